"""Pages that MkDocs makes of other files: README, changelog, examples, and the reference of every module."""

from pathlib import Path
from typing import Any

import griffe
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
LEFT_OUT = ("cli", "experiments", "operators", "report")  # not part of the public interface


def on_config(config: Any) -> Any:
    """List the reference in the navigation."""
    names = ["gadc", *(f"gadc.{name}" for name in _parts(_package()))]
    section = next(part["Reference"] for part in config.nav if "Reference" in part)
    section += [{name: f"reference/{name}.md"} for name in names]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add what lies elsewhere."""
    package = _package()
    pages = {
        "index.md": (ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/", "]("),
        "project/changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        "reference/gadc.md": _directive(package, level=1),
        **{f"reference/gadc.{name}.md": _reference(part) for name, part in _parts(package).items()},
    }
    pages["index.md"] = pages["index.md"].replace("](CHANGELOG.md", "](project/changelog.md")
    pages |= {f"examples/{one.name}": one.read_text(encoding="utf-8") for one in ROOT.glob("examples/*.py")}
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The examples lie beside docs/ in the repository, and below the guides on the site."""
    return markdown.replace("](../../examples/", "](../examples/")


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
