"""What is released: versions agree, the lowest are the declared ones, and a wheel holds only the package."""

import re

import pytest

from gadc import __version__
from scripts.dist import EXTRAS, foreign_files
from scripts.smoke import PARTS
from tests.helpers.paths import ROOT

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOR_DEVELOPERS = {"all", "bench", "dev", "dist", "ogb"}


def _declared():
    """The lower bound of every package that users may install, by name."""
    extras = PROJECT["optional-dependencies"]
    lists = [PROJECT["dependencies"], *(extras[name] for name in extras if name not in FOR_DEVELOPERS)]
    found = [
        re.match(r"([\w-]+)>=([\d.]+)", one) for group in lists for one in group if "< '3.11'" not in one
    ]
    return {match[1]: match[2] for match in found}


def test_the_lowest_versions_are_the_declared_ones():
    text = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8")
    pins = dict(re.findall(r"^([\w-]+)==([\d.]+)$", text, re.MULTILINE))
    declared = _declared()
    del declared["torch"]  # only the newest release was tested
    assert len(declared) > 20
    for name, bound in declared.items():
        pinned = [*pins[name].split("."), "0", "0"]
        wanted = bound.split(".")
        assert pinned[: len(wanted)] == wanted, f"{name}: {bound} is declared, {pins[name]} is tested"


def test_version_citation_and_changelog_agree():
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_extra_of_users_is_tried_after_a_build():
    assert set(EXTRAS) == set(PROJECT["optional-dependencies"]) - {"dev", "dist"}
    assert set(PARTS) == {"core", *EXTRAS}


@pytest.mark.parametrize(
    "name", ["tests/test_a.py", "gadc/tests/test_a.py", "gadc/results/runs.py", "gadc/x.csv", "results/a.csv"]
)
def test_a_foreign_file_in_a_wheel_is_found(name):
    assert foreign_files(["gadc/__init__.py", "gadc/py.typed", "gadc-1.dist-info/METADATA", name]) == [name]
