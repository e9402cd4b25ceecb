"""The page of a lab as one file: what was found, the worst items, and a panel for each of them.

At most 50 items per kind are shown, with at most 38 nodes, 60 edges among neighbours and six features each;
names are shortened. So the page stays below about 15 kB per item (6 MB with 50 items of eight kinds), and
ids are kept whole only once, for the export of decisions. Only the script whose hash the page announces
runs, and nothing is fetched, so a name from a table could do neither even if it became part of the page.
"""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import Any

from gadc.lab._page._sections import SHOWN, Examined, Section, sections_of
from gadc.lab._words import overview
from gadc.report._html import fill_template
from gadc.report._style import CLASS_COLORS

TITLE = "What is wrong with this graph?"


def page_html(lab: Examined) -> str:
    """Write the page of a lab."""
    sections = sections_of(lab)
    script = "\n" + _file("gadc.report", "sort.js") + _file("gadc.lab._page", "lab.js")
    return fill_template(
        "lab.html.j2",
        package="gadc.lab._page",
        title=TITLE,
        overview=overview(lab.view),
        verdict=_verdict(sections),
        sections=sections,
        skipped=[(lab.kinds[name].title, reason) for name, reason in lab.skipped.items()],
        shown=SHOWN,
        colors=CLASS_COLORS,
        data=_json(sections),
        script=script,
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )


def _verdict(sections: list[Section]) -> str:
    """Say in one sentence where issues were found."""
    found = [
        f"{section.name} ({section.findings.num_issues:,})"
        for section in sections
        if section.findings.num_issues
    ]
    if not sections:
        return "Nothing was looked for."
    if not found:
        return "No issue was found."
    return f"{len(found)} of {len(sections)} kinds of issues were found: {', '.join(found)}."


def _json(sections: list[Section]) -> str:
    """Write what the script needs, in ASCII and without a character that could end the element."""
    kinds: list[dict[str, Any]] = [
        {
            "name": section.name,
            "confirmed": section.confirmed,
            "items": [
                {"ids": item.ids, "flagged": item.flagged, "decision": item.decision, "note": item.note}
                for item in section.items
            ],
            "earlier": section.earlier,
        }
        for section in sections
    ]
    text = json.dumps({"kinds": kinds})
    text = json.dumps({"store": sha256(text.encode()).hexdigest()[:16], "kinds": kinds})
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _file(package: str, name: str) -> str:
    return files(package).joinpath("templates", name).read_text(encoding="utf-8")
