"""The group of commands: help without heavy imports, exit codes, and the message for a missing package."""

import subprocess
import sys

import pytest

from gadc import __version__
from gadc.cli._group import COMMANDS, load_command

HEAVY = ("torch", "torch_geometric", "numpy", "scipy", "sklearn", "numba", "polars", "matplotlib", "jinja2")

SCRIPT = """
import sys
import gadc
before = set(sys.modules)
from gadc.cli import main
try:
    main(["--help"])
except SystemExit:
    pass
print("imported:", *sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
print("commands:", *sorted(name for name in sys.modules if name.startswith("gadc.cli._")))
"""


def test_help_imports_no_command_and_no_heavy_package():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    *_, imported, commands = done.stdout.splitlines()
    assert not set(imported.split()[1:]) & set(HEAVY)
    assert commands.split()[1:] == ["gadc.cli._group"]
    assert all(f" {name} " in done.stdout for name in COMMANDS)


HELP_OF_EACH_COMMAND = """
import sys
from gadc.cli._group import COMMANDS, load_command
for name in COMMANDS:
    load_command(name)
    loaded = {"numpy._core", "torch._C", "polars.dataframe", "scipy.sparse", "sklearn.base", "pandas"}
    print(name, *loaded & set(sys.modules))
"""


def test_help_of_a_command_imports_no_heavy_package():
    script = [sys.executable, "-c", HELP_OF_EACH_COMMAND]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == list(COMMANDS)


def test_python_m_gadc_runs_the_command_line():
    done = subprocess.run([sys.executable, "-m", "gadc", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"gadc {__version__}\n")


@pytest.mark.parametrize("name", COMMANDS, ids="gadc-{}".format)
def test_command_help_starts_with_the_text_in_the_table(name):
    command = load_command(name)
    assert command.help.split("\n\n")[0] == COMMANDS[name]
    assert name == "data" or "Example: gadc" in command.help
    shown = (command, *getattr(command, "commands", {}).values())
    for parameter in (one for each in shown for one in each.params):
        text = getattr(parameter, "help", None)
        assert text, (name, parameter.name)
        assert text.endswith("."), (name, parameter.name)


@pytest.mark.parametrize("args", [("fitt",), ("fit", "--unknown-option", "3"), ("data", "lost")])
def test_an_unknown_command_or_option_has_exit_code_2(run, args):
    code, out, err = run(*args)
    assert code == 2
    assert not out
    assert "Traceback" not in err


def test_an_unknown_command_suggests_a_similar_one(run):
    assert "Did you mean 'fit'" in run("fitt")[2]


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_a_missing_package_names_the_extra(run, monkeypatch, package):
    for name in [one for one in sys.modules if one.startswith(("gadc.cli._", "typer", "rich"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("gadc.cli._group", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    code, _, err = run("data", "list")
    assert code == 1
    assert err == f'error: {package} is not installed; install it with: pip install "gadc[cli]"\n'


def test_interrupting_a_command_leaves_no_traceback(run, monkeypatch, tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("gadc.cli._demo.compare", interrupt)
    code, _, err = run("demo", "-o", tmp_path / "demo.html")
    assert code not in (0, None)
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []
