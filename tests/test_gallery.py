"""Every script of the gallery draws its picture and finds what its text says."""

import ast
import re

import matplotlib
import pytest
from PIL import Image

from scripts.gallery import SCRIPTS, draw
from tests.helpers.paths import DOCS

matplotlib.use("Agg")
NUMBER = r"\d+(?:\.\d+)?(?:e-?\d+)?"


def _finding(script):
    docstring = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
    return " ".join(docstring.split("Finding: ")[1].split())


def test_the_gallery_has_nine_short_scripts_with_small_pictures():
    assert len(SCRIPTS) == 9
    for name, script in SCRIPTS.items():
        assert len(script.read_text(encoding="utf-8").splitlines()) <= 60, name
        assert (DOCS / "images" / "gallery" / f"{name}.png").stat().st_size < 60_000, name


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_draws_its_picture_and_finds_what_its_text_says(script, tmp_path, capsys):
    picture = draw(script, tmp_path)
    with Image.open(picture) as image:
        assert image.width > 500
        assert len(image.convert("RGB").getcolors(maxcolors=2**24)) > 20  # something is drawn
    printed, said = capsys.readouterr().out.strip(), _finding(script)
    assert re.sub(NUMBER, "#", printed) == re.sub(NUMBER, "#", said)
    found, expected = ([float(number) for number in re.findall(NUMBER, text)] for text in (printed, said))
    assert found == pytest.approx(expected, rel=0.05)
