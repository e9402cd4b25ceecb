"""Reports as one HTML file that contains its style, script and plots."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from gadc._base.extras import require
from gadc._base.text import visible
from gadc.report._grid import LEGEND, lay_out, tally
from gadc.report._section import Section
from gadc.report._style import INK, PAPER


def document(sections: Sequence[Section], pictures: dict[str, str], title: str) -> str:
    """Write the report of experiments.

    Args:
        sections: One section per table.
        pictures: SVG of each plot by its name.
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


def fill_template(name: str, *, package: str = "gadc.report", **values: Any) -> str:
    """Fill a template; values are escaped unless the template says otherwise.

    Args:
        name: File name of the template.
        package: Package whose folder `templates` has it, this one by default; it can extend and include
            the templates of this one.
        values: Values of its variables.
    """
    jinja2 = require("jinja2", "report")
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(one, "templates") for one in dict.fromkeys((package, "gadc.report"))]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page: str = environment.get_template(name).render(**values)
    return page


def inline_svg(svg: str) -> str:
    """Prepare a picture for a page: no prologue, namespaces or repeated ids, and the colours of the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(r' id="[A-Za-z0-9.]+_\d+"', "", svg)  # names of groups, the same in every picture
    return svg.replace(INK, "currentColor").replace(PAPER, "none")
