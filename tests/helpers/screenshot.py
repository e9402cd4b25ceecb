"""Save what a browser shows of a page.

python -m tests.helpers.screenshot PAGE PICTURE [--item item-1-0] [--keys 2j] [--size 1280x1000] [--dark]
"""

import argparse
import tempfile
from pathlib import Path

from PIL import Image

from tests.helpers.chromium import Browser


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=Path, help="HTML file")
    parser.add_argument("picture", type=Path, help="PNG to write")
    parser.add_argument("--item", default="", help="anchor of the item that is open")
    parser.add_argument("--keys", default="", help="keys that are pressed before")
    parser.add_argument("--size", default="1280x1000", help="width and height of the window")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="pixels of the picture per pixel of the page"
    )
    parser.add_argument("--dark", action="store_true", help="in dark mode")
    parser.add_argument("--colors", type=int, default=200, help="colours of the picture, 0 for all")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Browser(Path(folder)) as browser:
        browser.size(*map(int, given.size.split("x")), given.scale)
        browser.media(scheme="dark" if given.dark else "light")
        browser.visit(given.page.resolve(), f"#{given.item}" if given.item else "")
        browser.press(*given.keys)
        browser.screenshot(given.picture)
    if given.colors:
        with Image.open(given.picture) as picture:
            small = picture.convert("RGB").quantize(given.colors, dither=Image.Dither.NONE)
        small.save(given.picture, optimize=True)


if __name__ == "__main__":
    main()
