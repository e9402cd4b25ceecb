"""What `auto` compares: one file per kind of candidate.

    Alone        a linear model or an MLP on the features alone
    Anchored     beliefs of a node and of its nearest nodes by features, averaged over edges
    Boosting     boosted trees on a table, with or without means over neighbours
    Diffused     the paper's models: S X by a variant of GADC, then a head
    Hops         a head over several hops of several operators at once
    Links        a head that reads to which nodes a node is linked
    Propagated   a head on X, whose scores are diffused
    Labels       label propagation
    Smoothed     another candidate, corrected and smoothed by the known labels
    Student      an MLP that imitates another candidate and reads no edges

A new kind is one file with a `Candidate` and its `Reader`, and one line in `KINDS`.
"""

from __future__ import annotations

from typing import Any

from gadc._base.scalars import check_choice
from gadc.models.auto.candidates._alone import Alone
from gadc.models.auto.candidates._anchored import Anchored
from gadc.models.auto.candidates._boosting import Boosting
from gadc.models.auto.candidates._candidate import Candidate, Reader
from gadc.models.auto.candidates._diffused import Diffused
from gadc.models.auto.candidates._grid import rank_variant
from gadc.models.auto.candidates._hops import Hops
from gadc.models.auto.candidates._labels import Labels
from gadc.models.auto.candidates._links import Links
from gadc.models.auto.candidates._propagated import Propagated
from gadc.models.auto.candidates._smoothed import Smoothed
from gadc.models.auto.candidates._student import Student
from gadc.models.auto.candidates._training import Nodes

KINDS: dict[str, type[Candidate]] = {
    kind.kind: kind
    for kind in (Alone, Anchored, Boosting, Diffused, Hops, Links, Propagated, Labels, Smoothed, Student)
}

__all__ = [
    "KINDS",
    "Alone",
    "Anchored",
    "Boosting",
    "Candidate",
    "Diffused",
    "Hops",
    "Labels",
    "Links",
    "Nodes",
    "Propagated",
    "Reader",
    "Smoothed",
    "Student",
    "candidate_from_dict",
    "rank_variant",
]


def candidate_from_dict(stored: dict[str, Any]) -> Candidate:
    """Build the candidate that `Candidate.to_dict` described."""
    settings = dict(stored)
    kind = settings.pop("kind")
    check_choice("candidate", kind, "kind", tuple(KINDS))
    for name in ("base", "teacher"):
        if name in settings:
            settings[name] = candidate_from_dict(settings[name])
    if "operators" in settings:
        settings["operators"] = tuple(settings["operators"])
    return KINDS[kind](**settings)
