"""Pages that MkDocs makes of other files: README, changelog, examples, and the reference of every module."""

from pathlib import Path
from typing import Any

import griffe
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
LEFT_OUT = ("cli", "experiments", "operators", "report")  # not part of the public interface
# The public modules by subject, in the order of the work on a graph.
SUBJECTS = {
    "Graphs": ("datasets", "packed", "transforms"),
    "The method": ("diffusion", "series", "theory"),
    "Learning": ("estimators", "pyg", "models"),
    "Trust": ("lab", "robustness"),
}
OVERVIEW = """# Interface by subject

Every public name with the first sentence of its documentation. The names under "In one import" are also in
`gadc` itself.
"""


def on_config(config: Any) -> Any:
    """List the reference in the navigation."""
    _check_subjects(_package())
    pages = [{name: [_entry(one) for one in modules]} for name, modules in SUBJECTS.items()]
    section = next(part["Reference"] for part in config.nav if "Reference" in part)
    section[:0] = ["reference/api.md", {"In one import": "reference/gadc.md"}, *pages]
    return config


def _entry(module: str) -> dict[str, str]:
    return {f"gadc.{module}": f"reference/gadc.{module}.md"}


def _check_subjects(package: griffe.Module) -> None:
    """Refuse a public module that no subject lists."""
    listed = sorted(name for modules in SUBJECTS.values() for name in modules)
    if listed != sorted(_parts(package)):
        raise ValueError(f"site_pages: SUBJECTS must list every public module, got {listed!r}.")


def on_files(files: Files, config: Any) -> Files:
    """Add what lies elsewhere."""
    package = _package()
    pages = {
        "index.md": (ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/", "]("),
        "project/changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        "project/contributing.md": (ROOT / "CONTRIBUTING.md")
        .read_text(encoding="utf-8")
        .replace("](docs/project/", "]("),
        "reference/api.md": _overview(package),
        "reference/gadc.md": _directive(package, level=1),
        **{f"reference/gadc.{name}.md": _reference(part) for name, part in _parts(package).items()},
    }
    pages["index.md"] = pages["index.md"].replace("](CHANGELOG.md", "](project/changelog.md")
    scripts = {one.relative_to(ROOT).as_posix(): one for one in ROOT.glob("examples/**/*.py")}
    pages |= {name: script.read_text(encoding="utf-8") for name, script in scripts.items()}
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The examples lie beside docs/ in the repository, and below the guides on the site."""
    return markdown.replace("](../../examples/", "](../examples/")


def _overview(package: griffe.Module) -> str:
    """One table per module: its names, each with the first sentence of its documentation."""
    parts = [OVERVIEW, "## In one import", _table("gadc", package)]
    for subject, modules in SUBJECTS.items():
        parts.append(f"## {subject}")
        for name in modules:
            parts += [f"### gadc.{name}", _first(package[name]), _table(f"gadc.{name}", package[name])]
    return "\n\n".join(parts)


def _table(page: str, module: griffe.Module) -> str:
    names = [str(name) for name in module.exports or () if not str(name).startswith("__")]
    rows = [f"| [`{name}`]({page}.md#{page}.{name}) | {_first(module[name])} |" for name in names]
    return "\n".join(["| name | |", "| --- | --- |", *rows])


def _first(one: Any) -> str:
    """The first sentence of a docstring, on one line."""
    text = one.final_target if one.is_alias else one
    paragraph = " ".join((text.docstring.value if text.docstring else "").split("\n\n")[0].split())
    return paragraph.replace("|", "\\|")


def _package() -> griffe.Module:
    return griffe.load("gadc", search_paths=[ROOT / "src"])


def _parts(package: griffe.Module) -> dict[str, griffe.Module]:
    """The public modules of a package by name."""
    chosen = {name: part for name, part in package.modules.items() if not name.startswith("_")}
    return {name: chosen[name] for name in sorted(chosen) if name not in LEFT_OUT}


def _reference(module: griffe.Module) -> str:
    """The docstring of a module, then everything it exports; public packages inside it follow."""
    return "\n".join(
        _directive(one, level=level) for level, one in [(1, module), *((2, part) for part in _inner(module))]
    )


def _inner(package: griffe.Module) -> list[griffe.Module]:
    """The public modules below a package, at any depth."""
    return [one for part in _parts(package).values() for one in (part, *_inner(part))]


def _directive(module: griffe.Module, *, level: int) -> str:
    """What mkdocstrings turns into the documentation of a module; it fails where there is none."""
    names = ", ".join(str(name) for name in module.exports or ())
    return f"::: {module.path}\n    options: {{heading_level: {level}, members: [{names}]}}\n"
