"""Reports as one HTML file that needs nothing else: style, script and plots are inside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from gadc._base.extras import require
from gadc.report._grid import LEGEND, lay_out, tally
from gadc.report._plots import INK, PAPER
from gadc.report._section import Section


def document(sections: Sequence[Section], pictures: dict[str, str], title: str) -> str:
    """The whole report of experiments.

    Args:
        sections: One for each table.
        pictures: SVG of every plot, by its name.
        title: Heading of the page.
    """
    inline = {name: inline_svg(svg) for name, svg in pictures.items()}
    return fill_template(
        "tables.html.j2",
        title=title,
        legend=LEGEND,
        sections=sections,
        pictures=inline,
        lay_out=lay_out,
        tally=tally,
    )


def fill_template(name: str, **values: Any) -> str:
    """A page from a template of the package; every value is escaped unless the template says otherwise."""
    jinja2 = require("jinja2", "report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("gadc.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page: str = environment.get_template(name).render(**values)
    return page


def inline_svg(svg: str) -> str:
    """The picture as part of a page: no prologue or namespaces, ids of its own only, colours of the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(r' id="[A-Za-z0-9.]+_\d+"', "", svg)  # names of groups, the same in every picture
    return svg.replace(INK, "currentColor").replace(PAPER, "none")
