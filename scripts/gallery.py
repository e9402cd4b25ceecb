"""Draw the pictures of the gallery: `make gallery`, or `python scripts/gallery.py --out FOLDER NAME...`."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

import matplotlib
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = {path.stem: path for path in sorted((ROOT / "examples" / "gallery").glob("*.py"))}


def draw(script: Path, folder: Path) -> Path:
    """Run a script of the gallery, which prints its finding, and return its picture."""
    import matplotlib.pyplot as plt

    picture = folder / f"{script.stem}.png"
    before = sys.argv
    sys.argv = [str(script), str(picture)]
    try:
        with plt.rc_context():
            runpy.run_path(str(script), run_name="__main__")
    finally:
        plt.close("all")
        sys.argv = before
    return picture


def main() -> None:
    """Draw some of the pictures, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="scripts to run; default: all")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images" / "gallery", help="folder")
    given = parser.parse_args()
    if unknown := set(given.names) - set(SCRIPTS):
        parser.error(f"NAME must be one of {', '.join(SCRIPTS)}, got {', '.join(sorted(unknown))}.")
    matplotlib.use("Agg")
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.names or SCRIPTS:
        picture = draw(SCRIPTS[name], given.out)
        Image.open(picture).convert("RGB").quantize(128).save(picture, optimize=True)  # a third of the size
        print(f"  {name}: {picture.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
