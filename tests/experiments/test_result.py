"""The line of a result: it holds every field, and a line that was cut short is recognised."""

import pytest

from gadc.experiments._result import HEADER, from_line, to_line
from tests.helpers.results import made_result

FULL = made_result(
    3, test=1 / 3, val=66.6667, clean=81.25, epoch=17, seconds=1.069, peak_mb=600, row="a, b", column='"c"'
)
FAILED = made_result(test=None, error='ValueError: Φ is 0/0, got "1,2" (fit, line 7)')


def _read(line, **known):
    settings = known.get("settings", {FULL.settings_hash: FULL.settings})
    versions = known.get("versions", {"v": FULL.versions})
    return from_line(line, "table", settings=settings, versions=versions)


@pytest.mark.parametrize("result", [FULL, FAILED, made_result()], ids=["full", "failed", "short"])
def test_line_gives_the_result_back(result):
    line = to_line(result, versions="v")
    assert _read(line) == result
    assert "\n" not in line


def test_line_has_one_entry_per_name_of_the_header():
    line = to_line(made_result(epoch=5, seconds=0.25), versions="v")
    entries = dict(zip(HEADER.split(","), line.split(","), strict=True))
    assert (entries["row"], entries["column"], entries["run"]) == ("gadc", "cora", "0")
    assert (entries["test"], entries["val"], entries["epoch"], entries["seconds"]) == (
        "80.0",
        "",
        "5",
        "0.25",
    )
    assert (entries["settings"], entries["versions"]) == (FULL.settings_hash, "v")


def test_line_holds_an_error_of_several_lines():
    result = _read(to_line(made_result(test=None, error="first\n  second\r\nthird"), versions="v"))
    assert result.error == "first second third"
    assert not result.ok


@pytest.mark.parametrize("result", [FULL, FAILED], ids=["full", "failed"])
def test_line_that_was_cut_short_is_not_a_success(result):
    line = to_line(result, versions="v")
    for cut in range(len(line)):
        found = _read(line[:cut])
        assert found is None or not found.ok or found == result


@pytest.mark.parametrize("line", [HEADER, "", "a,b", "[1, 2]", "gadc,cora,x" + "," * 9])
def test_line_that_is_not_a_result_is_left_out(line):
    assert _read(line) is None


def test_line_with_an_unknown_hash_is_left_out():
    line = to_line(FULL, versions="v")
    assert _read(line, settings={}) is None
    assert _read(line, versions={}) is None
