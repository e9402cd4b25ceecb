"""The gallery of the site: one page per script of examples/gallery, and one page with all pictures.

A page is the docstring of a script, its picture (`make gallery` draws it) and its source.
"""

import ast
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "examples" / "gallery").glob("*.py"))
HEADER = """# Gallery

Scripts of at most 60 lines, one idea and one picture each. Every script runs offline in seconds:
`python examples/gallery/denoise_digits.py` writes `denoise_digits.png` and prints its finding.

"""


def on_config(config: Any) -> Any:
    """List the pages in the navigation, below the page with all pictures."""
    section = next(part["Gallery"] for part in config.nav if "Gallery" in part)
    section += [f"gallery/{script.stem}.md" for script in SCRIPTS]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages."""
    pages = {f"gallery/{script.stem}.md": _page(script) for script in SCRIPTS}
    pages["gallery/index.md"] = HEADER + _grid()
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    return files


def describe(script: Path) -> tuple[str, str]:
    """Return title and text of a script: the first line of its docstring, and the rest."""
    docstring = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    title, _, text = docstring.partition("\n\n")
    return title.rstrip("."), text.replace("Finding:", "**Finding:**")


def _page(script: Path) -> str:
    title, text = describe(script)
    source = script.read_text(encoding="utf-8").split('"""', 2)[2].strip()
    picture = f"![{title}](../images/gallery/{script.stem}.png)"
    return f"# {title}\n\n{picture}\n\n{text}\n\n```python\n{source}\n```\n"


def _grid() -> str:
    """All pictures with their titles, each a link; as many beside each other as the window is wide."""
    style = "display: grid; gap: 1.5rem; grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr))"
    tiles = [
        f"[![{title}](../images/gallery/{name}.png)<br>{title}]({name}.md)"
        for name, (title, _) in ((script.stem, describe(script)) for script in SCRIPTS)
    ]
    return f'<div markdown style="{style}">\n\n' + "\n\n".join(tiles) + "\n\n</div>\n"
