"""The page of a lab in a browser: click, filter, sort, keys, decisions and their way back, phone, print.

Run by `make browser`; needs Chromium.
"""

import re

import polars as pl
import pytest

from tests.helpers.chromium import CHROMIUM, Browser
from tests.helpers.lab_pages import HOSTILE, page_lab

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium on the path"),
]
SHOWN = "[...document.querySelectorAll('.kind:not([hidden]) tbody tr')].filter(row => row.offsetHeight)"
PANEL = "document.getElementById('panel')"
CURRENT = "document.querySelector('tr.current').id"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Pages of a harmless and of a hostile graph."""
    folder = tmp_path_factory.mktemp("pages")
    page_lab().write(folder / "plain.html")
    hostile_lab().write(folder / "hostile.html")
    return folder


def hostile_lab():
    return page_lab(names=HOSTILE, classes=HOSTILE[:3], column=HOSTILE[0], weight=True)


@pytest.fixture
def page(browser, paths):
    """The harmless page, wide and light, without decisions of the last test; nothing may go wrong on it."""
    yield from visited(browser, paths / "plain.html")


@pytest.fixture
def hostile(browser, paths):
    yield from visited(browser, paths / "hostile.html")


def visited(browser, path):
    browser.size(1280, 900)
    browser.media()
    browser.visit(path)
    browser.evaluate("localStorage.clear()")
    browser.visit(path)
    yield browser
    assert browser.messages == []
    assert browser.requests == [path.as_uri()]


def texts(browser, column=0):
    return browser.evaluate(f"{SHOWN}.map(row => row.cells[{column}].textContent.trim())")


def test_console_errors_are_noticed(browser, tmp_path):
    (tmp_path / "bad.html").write_text("<!doctype html><script>undefinedFunction()</script>")
    browser.visit(tmp_path / "bad.html")
    assert "undefinedFunction" in "".join(browser.messages)


def test_first_list_shows_the_flagged_items(page):
    assert len(texts(page)) == 12
    page.click("#all")
    assert len(texts(page)) == 20
    assert page.evaluate("document.getElementById('count').textContent") == "20 of 20 listed items shown"


def test_click_opens_the_panel_of_an_item(page):
    page.click("#row-0-2 td.words")
    assert page.evaluate(f"{PANEL}.hidden") is False
    heading = page.evaluate(f"{PANEL}.querySelector('h2').textContent")
    assert heading == " – ".join(page_ids(2))
    assert page.evaluate(f"{PANEL}.querySelectorAll('svg circle').length") > 2
    assert (
        page.evaluate(f"getComputedStyle({PANEL}.querySelector('.question')).strokeDasharray") == "6px, 5px"
    )
    page.click("#close")
    assert page.evaluate(f"{PANEL}.hidden") is True


def page_ids(number):
    lab = page_lab()
    return [lab.view.ids[int(node)] for node in lab.view.pairs[:, number]]


def test_keys_move_open_and_close(page):
    page.press("j", "j", "k", "ArrowDown", "ArrowDown", "ArrowUp")
    assert page.evaluate(CURRENT) == "row-0-1"
    page.press("Enter")
    assert page.evaluate(f"{PANEL}.hidden") is False
    page.press("j")
    assert page.evaluate(CURRENT) == "row-0-2"
    assert page.evaluate(f"{PANEL}.querySelector('h2').textContent") == " – ".join(page_ids(2))
    page.press("Escape")
    assert page.evaluate(f"{PANEL}.hidden") is True
    assert page.evaluate("document.activeElement.closest('tr').id") == "row-0-2"


def test_moving_stops_at_the_ends_of_the_list(page):
    page.press(*"kk")
    assert page.evaluate(CURRENT) == "row-0-0"
    page.press(*"j" * 20)
    assert page.evaluate(CURRENT) == "row-0-11"


def test_tabs_and_arrows_change_the_kind(page):
    page.click("#tab-2")
    assert texts(page) == ["n0", "n1", "n2"]
    page.press("ArrowRight")
    assert texts(page) == ["size"]
    page.click("a[href='#kind-0']")
    page.until(f"{SHOWN}.length === 12")  # the browser tells of a new anchor after the click


def test_kind_without_flagged_items_says_so(page):
    page.click("#tab-1")
    assert texts(page) == []
    assert "No item is flagged" in page.evaluate("document.querySelector('#kind-1 .nothing').textContent")


def test_filter_hides_other_items(page):
    one, other = page_ids(3)
    page.press("/")
    page.type(other)
    assert 0 < len(texts(page)) < 12
    assert all(other in text for text in page.evaluate(f"{SHOWN}.map(row => row.textContent)"))
    assert one in texts(page)
    page.press("j", "1")  # typed, not obeyed
    assert page.evaluate("document.getElementById('filter').value") == f"{other}j1"
    assert "No item matches" in page.evaluate("document.querySelector('#kind-0 .nothing').textContent")


def test_headers_sort_the_list_and_opening_does_not(page):
    page.click("#kind-0 thead th:nth-child(3) button")
    assert texts(page, 2) == sorted(texts(page, 2), key=lambda text: -int(text.split()[0]))
    page.click("#kind-0 thead th:nth-child(3) button")
    rising = texts(page, 2)
    assert rising == sorted(rising, key=lambda text: int(text.split()[0]))
    page.press("j", "Enter")
    assert texts(page, 2) == rising


def test_decisions_are_shown_counted_and_taken_back(page):
    page.press("j", "2", "j", "1", "j", "3")
    assert texts(page, 5)[:4] == ["drop", "keep", "unsure", ""]
    progress = "document.getElementById('progress').textContent"
    assert page.evaluate(progress) == "3 decided on this page. Precision so far: edge 1 of 2 (50 %)."
    page.press("3")
    assert texts(page, 5)[:4] == ["drop", "keep", "", ""]
    page.press("k", "Enter")
    assert page.evaluate("document.querySelector('[aria-pressed=true]').dataset.decision") == "keep"
    page.click("[data-decision=drop]")
    assert page.evaluate(progress).endswith("edge 2 of 2 (100 %).")


def test_decisions_survive_a_reload(page, paths):
    page.press("j", "2")
    page.visit(paths / "plain.html")
    assert texts(page, 5)[0] == "drop"


def test_exported_decisions_are_read_back(hostile, tmp_path):
    lab = hostile_lab()
    hostile.press(*"j2" * 9, "j", "1", "j", "Enter")
    hostile.click("#note")
    hostile.type('a "note", 1')
    hostile.press("Escape")
    hostile.click("#tab-2")
    hostile.press("j", "2")
    (hostile.folder / "decisions.csv").unlink(missing_ok=True)
    hostile.click("#export")
    table = pl.read_csv(hostile.downloaded("decisions.csv"), infer_schema=False)
    assert table.columns == ["kind", "source", "target", "id", "decision", "note"]
    assert table["decision"].to_list() == ["drop"] * 9 + ["keep", "unsure", "drop"]
    assert table["note"].to_list()[10] == 'a "note", 1'
    lab.decide(hostile.folder / "decisions.csv")
    assert lab.precision_so_far() == {"edge": (9, 10), "label": (1, 1)}
    assert len(lab.frame("edge")) == 10


def test_link_to_an_item_opens_it(page, paths):
    page.visit(paths / "plain.html", "#item-1-1")
    assert page.evaluate(f"{PANEL}.hidden") is False
    assert page.evaluate(CURRENT) == "row-1-1"
    page.requests = page.requests[:1]  # the address with the anchor
    page.requests[0] = page.requests[0].partition("#")[0]


@pytest.mark.parametrize("name", ["plain.html", "hostile.html"])
def test_page_fits_a_phone_without_scrolling_sideways(browser, paths, name):
    browser.size(390, 844)
    browser.visit(paths / name)
    for tab in range(4):
        browser.click(f"#tab-{tab}")
        browser.evaluate("document.getElementById('all').checked || document.getElementById('all').click()")
        browser.press("j", "Enter")
        wide = "e => [e.scrollWidth, e.clientWidth]"
        for element in ("document.documentElement", PANEL):
            content, window = browser.evaluate(f"({wide})({element})")
            assert content <= window <= 390, (tab, element)
        browser.press("Escape")
    assert browser.messages == []


def test_letters_in_pictures_are_readable_on_a_phone(browser, paths):
    browser.size(390, 844)
    browser.visit(paths / "plain.html")
    browser.press("j", "Enter")
    letters = browser.evaluate(
        "Math.min(...[...document.querySelectorAll('#panel svg text')].map(t => "
        "t.getScreenCTM().a * parseFloat(getComputedStyle(t).fontSize)))"
    )
    assert letters >= 8


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_has_enough_contrast(page, scheme):
    page.media(scheme=scheme)
    page.press("j", "2", "j", "Enter", "1")
    shot = """(selector) => {
      const e = document.querySelector(selector), s = getComputedStyle(e);
      const paper = (one) => getComputedStyle(one).backgroundColor;
      let back = e;
      while (paper(back) === "rgba(0, 0, 0, 0)") back = back.parentElement;
      return [e.closest("svg") ? s.fill : s.color, paper(back)];}"""
    for selector in (
        "h1", ".summary a", ".words", ".soft", "tr.current th button", "[aria-selected=true]", "#export",
        "#panel h2", ".ego .name", ".decide button", "[aria-pressed=true]", ".gap", "kbd",
    ):  # fmt: skip
        ink, paper = page.evaluate(f"({shot})('{selector}')")
        assert contrast(ink, paper) >= 4.5, (selector, ink, paper)
    assert (luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) < 0.1) == (
        scheme == "dark"
    )


def test_print_shows_all_lists_without_tools(page):
    page.media("print")
    assert page.evaluate("[...document.querySelectorAll('.kind')].every(one => one.offsetHeight > 0)")
    assert page.evaluate("document.getElementById('tools').offsetHeight") == 0


def test_hostile_names_are_shown_harmlessly(hostile):
    count = "[document.scripts.length, document.querySelectorAll('main img, main iframe, main link').length]"
    assert hostile.evaluate(count) == [2, 0]
    hostile.click("#all")
    for _ in range(20):
        hostile.press("j", "Enter")
        assert hostile.evaluate(f"{PANEL}.querySelector('script')") is None
        hostile.press("Escape")
    text = hostile.evaluate("document.body.textContent")
    assert HOSTILE[0] in text
    assert r"reversed \u202e from here" in text


def test_injected_scripts_do_not_run(browser, paths, tmp_path):
    """Even a page whose escaping failed would refuse a foreign script."""
    page = (paths / "plain.html").read_text(encoding="utf-8")
    (tmp_path / "broken.html").write_text(page.replace("<h1>", "<script>window.broken = 1</script><h1>"))
    browser.visit(tmp_path / "broken.html")
    assert browser.evaluate("window.broken") is None
    assert "Content Security Policy" in "".join(browser.messages)


def luminance(color):
    """Relative luminance by WCAG 2."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)
