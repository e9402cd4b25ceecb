"""The built site in a browser, opened from its folder: search works, and nothing comes from the network."""

import subprocess
import sys

import pytest

from tests.helpers.chromium import CHROMIUM, Browser
from tests.helpers.paths import ROOT

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True)
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    assert CHROMIUM, "needs Chromium on the path"
    with Browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


def test_search_finds_pages_without_a_server(site, browser):
    browser.size(1280, 900)
    browser.visit(site / "how-to" / "lab.html")
    browser.evaluate("document.querySelector('.md-search__input').focus()")
    browser.type("suspicious_edges")
    browser.until("document.querySelectorAll('.md-search-result__item').length > 0")
    assert browser.messages == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_phone_and_load_nothing_from_outside(site, browser, scheme):
    browser.size(390, 800)
    browser.media(scheme=scheme)
    for page in sorted(set(site.rglob("*.html")) - {site / "404.html"}):  # which a server shows
        browser.visit(page)
        assert [one for one in browser.requests if not one.startswith(("file:", "data:"))] == [], page
        assert browser.messages == [], page
        assert browser.evaluate("document.documentElement.scrollWidth") <= 390, page
