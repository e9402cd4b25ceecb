"""Make the pictures of the tutorials: run the Python blocks of each page and keep the pictures they write.

python -m docs.pictures.pages [PAGE ...]
"""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
PICTURE = re.compile(r"\]\(images/([\w-]+\.(?:png|svg))\)")


def main() -> None:
    """Run the named pages, or every tutorial whose pictures lie in its folder `images`."""
    pages = [Path(name) for name in sys.argv[1:]] or sorted((DOCS / "tutorials").glob("*.md"))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        pictures = PICTURE.findall(text)
        if pictures:
            print(page, *pictures)
            _run("\n".join(BLOCK.findall(text)), page.resolve(), pictures)


def _run(code: str, page: Path, pictures: list[str]) -> None:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        exec(compile(code, page.name, "exec"), {"__name__": page.stem})  # noqa: S102 - our own pages
        for name in pictures:
            shutil.copy(name, page.parent / "images" / name)
        os.chdir(before)


if __name__ == "__main__":
    main()
