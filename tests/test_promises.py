"""Every promise in the documentation names a test that exists."""

import re

import pytest

from tests.helpers.paths import DOCS, ROOT

PAGE = (DOCS / "reference/promises.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


def test_the_page_names_a_test_for_each_promise():
    promises = [line for line in PAGE.splitlines() if line.startswith("| ") and "`tests/" in line]
    assert len(promises) == len(NAMED) >= 25


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_the_named_test_exists(file, name):
    assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
