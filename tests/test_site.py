"""The site: sections in order, every command and option in the reference, formulas without a script."""

import re

import pytest
import typer
import yaml

from docs.site_commands import make_page
from docs.site_formulas import on_page_content
from gadc.cli._group import COMMANDS, load_command
from tests.helpers.paths import ROOT

SECTIONS = [
    "Start",
    "Tutorials",
    "Gallery",
    "How-to",
    "Explanation",
    "Reference",
    "Evidence",
    "Research notes",
    "Project",
]


def test_site_sections_are_in_the_order_of_a_reader():
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    names = [name for part in nav for name in part]
    assert names == [name for name in SECTIONS if name in names]


@pytest.fixture(scope="module")
def commands_page():
    return make_page()


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_page_lists_every_option_of_a_command(name, commands_page):
    command = load_command(name)
    inner = getattr(command, "commands", {})
    for title, one in {name: command, **{f"{name} {key}": value for key, value in inner.items()}}.items():
        section = re.search(rf"(?ms)^##+ gadc {title}\n(.*?)(?=^##|\Z)", commands_page)[1]
        context = typer.Context(one, info_name=title)
        for parameter in one.params:
            shown = parameter.get_help_record(context)[0].split()[0].rstrip(",")
            assert f"`{shown}" in section, f"gadc {title}: {shown}"
        assert one.help.split("\n\n")[0] in section


def test_formulas_become_mathml():
    page = r'<p><span class="arithmatex">\(a &lt; b_1\)</span></p><div class="arithmatex">\[x^2\]</div>'
    html = on_page_content(page)
    assert "arithmatex" not in html
    assert html.count("<math") == 2
    assert "&#x0003C;" in html or "&lt;" in html
    assert "<msub>" in html
    assert "<msup>" in html
