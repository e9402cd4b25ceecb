"""Tables as a LaTeX document with booktabs; differences are coloured by their tone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gadc.report._cell_text import CellText
from gadc.report._grid import LEGEND, NOT_IN_PAPER, Grid, lay_out, tally
from gadc.report._section import Section

_WIDEST = 6  # columns that fit on a page; wider grids continue below

_PREAMBLE = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage[a4paper,margin=1.2cm]{geometry}
\usepackage{amssymb,booktabs,graphicx,xcolor}
\definecolor{worse}{HTML}{B4500B}
\definecolor{better}{HTML}{1D5FA8}
\definecolor{even}{HTML}{6B7280}
\definecolor{failed}{HTML}{A11D33}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\setlength{\tabcolsep}{4pt}
\newcommand{\entry}[1]{\begin{tabular}[t]{@{}l@{}}#1\end{tabular}}
\newcommand{\fit}[1]{\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{#1}}
\begin{document}
\raggedright
"""

_SYMBOLS = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "—": "---",
    "–": "--",
    "…": r"\dots{}",
    "²": r"\textsuperscript{2}",
    "ᵀ": r"\textsuperscript{T}",
    "Â": r"$\hat{A}$",
}
_MATH = (
    "✓ checkmark, ✗ times, ± pm, × times, · cdot, ≤ le, ≥ ge, ≠ ne, ≈ approx, → to, √ surd, ∞ infty, ‖ |, "
    "α alpha, β beta, γ gamma, δ delta, ε varepsilon, η eta, θ theta, λ lambda, μ mu, ξ xi, π pi, ρ rho, "
    "σ sigma, τ tau, φ varphi, Δ Delta, Λ Lambda, Σ Sigma, Φ Phi"
)
_COMMANDS = {char: rf"$\{name}$" for char, name in (pair.split() for pair in _MATH.split(", "))}
_ESCAPES = str.maketrans({**_SYMBOLS, **_COMMANDS, "−": "$-$"})


def escape(text: str) -> str:
    """Escape a text for LaTeX; letters outside ASCII that are not listed here are left to inputenc."""
    return text.translate(_ESCAPES)


def document(sections: Sequence[Section], title: str) -> str:
    """Write the report."""
    parts = [_PREAMBLE, rf"\section*{{{escape(title)}}}", escape(LEGEND), _colours()]
    parts += [_section(section) for section in sections] or ["No results: no table was given."]
    return "\n\n".join([*parts, r"\end{document}"]) + "\n"


def _colours() -> str:
    names = {"worse": "lower than published", "even": "even", "better": "higher than published"}
    worse, even, better = (rf"\textcolor{{{tone}}}{{{text}}}" for tone, text in names.items())
    return f"Differences: {worse}, {even} (within one standard error), {better}."


def _section(section: Section) -> str:
    table = section.table
    parts = [rf"\subsection*{{{escape(table.title)}}}", f"{escape(table.source)}."]
    if table.notes:
        items = [rf"\item {escape(note)}" for note in table.notes]
        parts.append("\n".join([r"\begin{itemize}", *items, r"\end{itemize}"]))
    parts.append(escape(tally(table, section.summaries)))
    if section.summaries:
        parts += _tabulars(lay_out(table, section.summaries))
    plots = [rf"\includegraphics[width=.48\linewidth]{{plots/{plot.name}.png}}" for plot in section.plots]
    return "\n\n".join([*parts, "\n".join(plots)])


def _tabulars(grid: Grid) -> list[str]:
    blocks = -(-len(grid.columns) // _WIDEST)
    size = -(-len(grid.columns) // blocks)
    return [_tabular(grid, slice(start, start + size)) for start in range(0, len(grid.columns), size)]


def _tabular(grid: Grid, part: slice) -> str:
    columns = grid.columns[part]
    lines = [_line([grid.corner, *map(_header, columns)]), r"\midrule"]
    lines += [_line([_header(header), *map(_text, cells[part])]) for header, cells in grid.lines]
    body = "\n".join([r"\toprule", *lines, r"\bottomrule"])
    return (
        rf"\fit{{\scriptsize\begin{{tabular}}{{{'l' * (len(columns) + 1)}}}"
        + f"\n{body}\n"
        + r"\end{tabular}}"
    )


def _line(texts: Sequence[str]) -> str:
    return " & ".join(texts) + r" \\ \addlinespace[2pt]"


def _text(cell: CellText) -> str:
    lines = [escape(line) for line in cell.lines]
    if cell.tone in ("worse", "even", "better", "failed"):
        place = 0 if cell.tone == "failed" else -1
        lines[place] = rf"\textcolor{{{cell.tone}}}{{{lines[place]}}}"
    return _stack(lines)


def _header(text: str) -> str:
    return _stack([escape(line) for line in re.split(rf" (?={re.escape(NOT_IN_PAPER)})", text)])


def _stack(lines: list[str]) -> str:
    return r"\entry{" + r" \\ ".join(lines) + "}" if len(lines) > 1 else "".join(lines)
