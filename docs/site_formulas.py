"""Formulas of the pages as MathML, which browsers draw themselves: no script and no network is needed.

A page writes `$x$` in a line and `$$x$$` in a paragraph, in LaTeX.
"""

import re
from html import unescape
from typing import Any

from latex2mathml.converter import convert

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
DISPLAY = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.DOTALL)


def on_page_content(html: str, **_: Any) -> str:
    """Replace each formula that the Markdown extension marked."""
    html = DISPLAY.sub(lambda found: f'<div class="formula">{_mathml(found[1], "block")}</div>', html)
    return INLINE.sub(lambda found: f'<span class="formula">{_mathml(found[1], "inline")}</span>', html)


def _mathml(latex: str, display: str) -> str:
    return str(convert(unescape(latex).strip(), display=display))
