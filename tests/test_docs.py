"""Every Python block of the guides runs, and so do the quick `gadc` commands that need no public data set."""

import runpy
import shlex
import sys

import pytest

from gadc.cli import main
from tests.helpers import shell
from tests.helpers.auto_graphs import shorten_trainings
from tests.helpers.estimators import restrict_auto
from tests.helpers.guide_tables import write_guide_tables
from tests.helpers.paths import ROOT
from tests.helpers.plugins import restored_registries

NEED_DATA = {"reference/datasets.md", "tutorials/wrong-edges.md"}
OWN_TEST = {"how-to/attacks.md"}  # tests/robustness/attacks/test_guide.py also checks what it prints
PAGES = shell.pages()

# Lines of shell blocks that are not run, by what they hold. Commands among them are still parsed.
NOT_RUN = {
    "pip install": "installs packages",
    "make ": "installs packages",
    "python examples/serve.py": "serves until it is stopped; tests/test_serve.py asks this server",
    "curl ": "asks that server",
    "gadc demo": "takes half a minute; tests/cli/test_demo.py runs it",
    "gadc audit": "takes minutes; tests/cli/test_audit.py runs it on a small graph",
    "--threat poisoning": "takes half a minute; tests/cli/test_certify.py runs it on a small graph",
    "gadc data ": "needs the public data sets; tests/cli/test_data.py runs it",
    "--data c": "needs the public data sets: Cora and Citeseer",
    "--data ring": "needs the plug-in of the guide to be installed",
    "ring-table": "needs the plug-in of the guide to be installed",
    "--cluster ": "starts processes or needs a scheduler; tests/packed runs tasks on workers",
    "benchmarks/": "takes an hour",
    "--db graph.db": "needs a database; tests/datasets/tables reads one",
    "--hook": "runs a file of the reader",
}


def _pages():
    marks = dict.fromkeys(NEED_DATA, pytest.mark.data)
    return [
        pytest.param(page, id=name, marks=marks.get(name, ()))
        for name, page in PAGES.items()
        if name not in OWN_TEST and _parts(page)
    ]


@pytest.fixture(autouse=True)
def _short_trainings(monkeypatch):
    """Shorten what `auto` trains: the blocks run, and nothing here reads their figures."""
    shorten_trainings(monkeypatch)


def _parts(page):
    """Return the parts of a page that run, in their order: Python blocks, and lines of shell blocks."""
    parts = []
    for language, text in shell.blocks(page):
        if language == "python":
            parts.append((language, text))
        else:
            parts += [(language, line) for line in shell.lines(text) if not _reasons(line)]
    return parts


def _reasons(line):
    return [reason for text, reason in NOT_RUN.items() if text in line]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the guides read, as the current one, and a cache of its own."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("GADC_CACHE", str(tmp_path / "cache"))
    write_guide_tables()


def _run(line, monkeypatch):
    """Run a line of a shell block in this process; `gadc check` also stops with 3 where it found issues."""
    command, *words = shlex.split(line)
    if command == "cd":
        monkeypatch.chdir(words[0])
        return
    assert command == "gadc", f"{line}: neither run nor listed in NOT_RUN"
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code in ((0, 3) if words[0] == "check" else (0,)), line


@pytest.mark.filterwarnings("ignore:.*contrib.* contains experimental code")  # of PyG, at its import
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", _pages())
def test_the_blocks_of_a_page_run_one_after_the_other(page, monkeypatch):
    parts, names = _parts(page), {"__name__": page.stem}
    with restored_registries():
        for language, text in parts:
            if language == "python":
                exec(compile(text, page.name, "exec"), names)
            else:
                with monkeypatch.context() as quick:
                    restrict_auto(quick)  # `gadc fit` would take its whole time budget
                    _run(text, monkeypatch)
    if any(language == "python" for language, _ in parts):
        assert len(names) > 1  # the blocks defined or imported something


COMMANDS = [(name, line) for name, page in PAGES.items() for line in shell.commands(page)]
MENTIONS = sorted({(name, line) for name, page in PAGES.items() for line in shell.mentions(page)})


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_a_command_of_a_shell_block_parses(page, line):
    shell.parse(line)


@pytest.mark.parametrize(("page", "line"), MENTIONS)
def test_a_command_in_a_sentence_exists_with_its_options(page, line):
    assert shell.unknown_names(line) == []


def test_a_command_or_option_that_does_not_exist_is_found():
    with pytest.raises(AssertionError, match="no command fitt"):
        shell.parse("gadc fitt -o m")
    for line in (
        "gadc fit --edges e.csv",
        "gadc fit -o m --no-such-option",
        "gadc edges --effects many -o e.csv",
    ):
        with pytest.raises(Exception, match=r"(?i)missing|no such option|integer"):
            shell.parse(line)
    assert shell.unknown_names("gadc fit ... --no-such-option") == ["--no-such-option"]
    assert shell.unknown_names("gadc fitt") == ["fitt"]


@pytest.mark.parametrize("text", NOT_RUN)
def test_what_is_not_run_is_still_on_a_page(text):
    shown = (
        line
        for page in PAGES.values()
        for kind, block in shell.blocks(page)
        if kind == "sh"
        for line in shell.lines(block)
    )
    assert any(text in line for line in shown)


@pytest.mark.parametrize("example", sorted(ROOT.glob("examples/*.py")), ids=lambda path: path.name)
def test_an_example_runs(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example)])
    runpy.run_path(str(example), run_name="__main__")
    assert any((tmp_path / "out").iterdir())
    assert capsys.readouterr().out
