"""A plain page: the summary in words, and a table of the worst items of each kind."""

from __future__ import annotations

from html import escape
from typing import Any

from gadc._base.text import visible

_SHOWN = 50
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;"
    "padding:0 1rem;color-scheme:light dark}"
    "table{border-collapse:collapse;display:block;overflow-x:auto}"
    "td,th{padding:.2rem .6rem;text-align:left;border-bottom:1px solid #8884}"
)


def page_html(lab: Any) -> str:
    """Write the page of a lab."""
    parts = [f"<h1>What is wrong with this graph?</h1>{lab._repr_html_()}"]
    for name, found in lab.findings.items():
        parts.append(f"<h2>{_text(lab.kinds[name].title)}</h2><p>{_text(found.summary)}</p>")
        parts += [f"<p>{_text(note)}</p>" for note in found.notes]
        frame = lab.frame(name).filter("is_issue").head(_SHOWN)
        if len(frame):
            head = "".join(f"<th>{_text(column)}</th>" for column in frame.columns)
            rows = "".join(
                "<tr>" + "".join(f"<td>{_text(_shown(cell))}</td>" for cell in row) + "</tr>"
                for row in frame.iter_rows()
            )
            parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
    body = "".join(parts)
    return (
        f"<!doctype html><html lang=en><head>{head}<title>gadc check</title></head><body>{body}</body></html>"
    )


def _shown(cell: object) -> str:
    return f"{cell:.3g}" if isinstance(cell, float) else "" if cell is None else str(cell)[:200]


def _text(text: str) -> str:
    return escape(visible(text))
