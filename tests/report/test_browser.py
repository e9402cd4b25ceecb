"""The report of a run in a browser: no errors, tables sort, fits a phone, readable in light and dark mode.

Run by `make browser`; needs Chromium.
"""

import json
import re
import shutil
import subprocess
from html import escape, unescape

import polars as pl
import pytest

from gadc.cli import main
from tests.helpers.run_samples import HOSTILE, HOSTILE_NAMES, MODELS, run_report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium on the path"),
]
PHONE = 390
# A browser window cannot be as narrow as a phone, but a frame can.
FRAME = f"""<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,"><body><iframe width="{PHONE}" height="800" srcdoc="%s"></iframe></body>"""
# Click the second header twice, and measure what a reader sees.
PROBE = """
<script>
const all = (selector) => [...document.querySelectorAll(selector)];
const lines = () => all("[data-sortable] tbody th").map((cell) => cell.textContent);
const color = (selector, name) => {
  let item = document.querySelector(selector);
  for (; item; item = item.parentElement) {
    const found = getComputedStyle(item)[name];
    if (!["none", "rgba(0, 0, 0, 0)"].includes(found)) return found;
  }
};
const header = all("[data-sortable] thead button")[1];
const seen = { before: lines() };
header.click();
seen.falling = lines();
header.click();
seen.rising = lines();
seen.width = innerWidth;
seen.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
seen.table = document.querySelector("table").scrollWidth;
seen.texts = ["h1", ".verdict", ".soft", "dt", "dd", "pre", "th button", "td", "figcaption",
  ".checks td", ".checks th"].map(
  (selector) => [selector, color(selector, "color"), color(selector, "backgroundColor")]);
seen.texts.push(["svg text", color("svg text", "fill"), color("svg text", "backgroundColor")]);
const scale = (text) => Math.hypot(text.getScreenCTM().a, text.getScreenCTM().b);
const pixels = (text) => scale(text) * parseFloat(getComputedStyle(text).fontSize);
seen.letters = Math.min(...all("svg text").map(pixels));
const report = top.document.createElement("pre");
report.id = "probe";
report.textContent = JSON.stringify(seen);
top.document.body.append(report);
</script>
"""


def browse(path, *flags):
    """Return the page after its scripts ran, and the messages of the console."""
    quiet = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-extensions")
    told = ("--enable-logging=stderr", "--v=0", "--virtual-time-budget=2000", "--dump-dom")
    home = f"--user-data-dir={path.parent / 'profile'}"
    done = subprocess.run(
        [CHROMIUM, *quiet, *told, home, *flags, path.as_uri()],
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=120,
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.fixture(scope="module", params=["light", "dark"])
def seen(request, tmp_path_factory):
    """What the probe measured on a phone, and the messages of the console."""
    path = tmp_path_factory.mktemp("page") / "run.html"
    page = run_report().html()
    page = escape(page.replace("</body>", PROBE + "</body>"))
    path.write_text(FRAME % page, encoding="utf-8")
    scheme = f"--blink-settings=preferredColorScheme={int(request.param == 'light')}"
    dom, console = browse(path, scheme)
    found = json.loads(unescape(re.search(r'<pre id="probe">(.*?)</pre>', dom, re.DOTALL)[1]))
    return {**found, "console": console, "scheme": request.param}


def test_page_has_no_console_errors(seen):
    assert seen["console"] == []


def test_browse_reports_console_errors(tmp_path):
    path = tmp_path / "bad.html"
    path.write_text("<!doctype html><script>undefinedFunction()</script>", encoding="utf-8")
    assert "undefinedFunction" in "".join(browse(path)[1])


def test_page_sorts_tables(seen):
    assert seen["before"] == list(MODELS)
    assert seen["falling"] == sorted(MODELS, key=MODELS.get, reverse=True)
    assert seen["rising"] == sorted(MODELS, key=MODELS.get)


def test_page_fits_a_phone_without_scrolling_sideways(seen):
    assert seen["width"] == PHONE
    assert seen["overflow"] <= 0
    assert seen["table"] > PHONE  # the wide table scrolls in its box


def test_plots_are_readable_on_a_phone(seen):
    assert seen["letters"] >= 8


def test_texts_have_enough_contrast(seen):
    for selector, ink, paper in seen["texts"]:
        assert contrast(ink, paper) >= 4.5, (selector, ink, paper)
        assert (luminance(paper) < 0.1) == (seen["scheme"] == "dark"), selector


@pytest.fixture
def report_of_hostile_tables(tmp_path):
    """Write the report of `gadc fit` on tables whose classes, ids, columns and file names are hostile."""
    names = [name for name in HOSTILE_NAMES if "\udcff" not in name]
    classes = [names[i % len(names)] for i in range(60)]
    column = f"size {HOSTILE}"
    nodes = {"id": [f"{HOSTILE} {i}" for i in range(60)], column: [i % len(names) for i in range(60)]}
    pl.DataFrame({**nodes, "kind": classes}).write_csv(tmp_path / "<script>alert(1)<!--.csv")
    edges = {"from": nodes["id"], "to": nodes["id"][10:] + nodes["id"][:10]}
    pl.DataFrame(edges).write_csv(tmp_path / "edges.csv")
    path = tmp_path / "run.html"
    graph = ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "<script>alert(1)<!--.csv")
    words = ("fit", *graph, "--label", "kind", "--variant", "plain", "-o", tmp_path / "m", "--report", path)
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    assert stop.value.code == 0
    return path


def test_page_of_hostile_tables_runs_nothing_and_fits_a_phone(report_of_hostile_tables):
    page = report_of_hostile_tables.read_text(encoding="utf-8")
    probe = """<script>
    const seen = {scripts: document.scripts.length, bold: document.querySelectorAll("b, img, iframe").length,
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      text: document.body.textContent};
    const report = top.document.createElement("pre");
    report.id = "probe";
    report.textContent = JSON.stringify(seen);
    top.document.body.append(report);
    </script>"""
    framed = report_of_hostile_tables.with_name("frame.html")
    framed.write_text(FRAME % escape(page.replace("</body>", probe + "</body>")), encoding="utf-8")
    dom, console = browse(framed)
    found = json.loads(unescape(re.search(r'<pre id="probe">(.*?)</pre>', dom, re.DOTALL)[1]))
    assert console == []
    assert (found["scripts"], found["bold"]) == (2, 0)  # sorting and the probe
    assert found["overflow"] <= 0
    assert HOSTILE in found["text"]
    assert r"reversed \u202e from here" in found["text"]


def luminance(color):
    """Relative luminance by WCAG 2."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)
