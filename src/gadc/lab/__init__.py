"""What is wrong with a graph: issues found, explained, repaired, and what that gains.

- `Lab`: look for issues in a graph, `find_issues`, `report`, `issues`, `clean`, `compare`.
- `Findings`: what one kind found; `CleaningComparison`, `Cleaned`, `Report`: other results.
- `Kind`, `KINDS`, `register`, `GraphView`: kinds of issues, and how to add one.

The kinds themselves are in `gadc.lab.kinds`.
"""

from gadc.lab._clean import Cleaned
from gadc.lab._compare import CleaningComparison
from gadc.lab._findings import Findings
from gadc.lab._kind import Kind
from gadc.lab._lab import Lab
from gadc.lab._view import GraphView
from gadc.lab._words import Report
from gadc.lab.kinds import KINDS, register

__all__ = [
    "KINDS",
    "Cleaned",
    "CleaningComparison",
    "Findings",
    "GraphView",
    "Kind",
    "Lab",
    "Report",
    "register",
]
