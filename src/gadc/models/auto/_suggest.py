"""A variant from the facts alone, for where there are no labels to validate with."""

from __future__ import annotations

import math

from gadc.models.auto._candidates import Candidate
from gadc.models.auto._facts import Facts

SUGGESTED = {
    "none": Candidate(family="none"),
    "plain": Candidate(family="plain", lam=8.0, num_steps=8),
    "I": Candidate(family="I", lam=1.0, num_steps=4, eps=1.0),
    "II": Candidate(family="II", lam=64.0, num_steps=16, eps=0.1),
    "IV": Candidate(family="IV", lam=1.0, num_steps=2),
}
_FEW_EDGES = 20  # with labels at both ends: too few to speak of homophily
_NOISY = 0.9  # share of noise in the square of the features
_ODD = 0.25  # a quarter of the edges joins nodes less alike than random ones
_ALIKE = 0.02  # cosines of neighbours exceed those of random pairs by so much where features say anything


def suggest(facts: Facts) -> tuple[str, str]:
    """A family of candidates, and the reason in words."""
    if not facts.edges:
        return "none", "there are no edges."
    if facts.labelled_edges >= _FEW_EDGES and facts.homophily < facts.chance_homophily:
        return "I", (
            f"neighbours share a class less often ({facts.homophily:.0%}) than random pairs "
            f"({facts.chance_homophily:.0%}): the graph is heterophilic."
        )
    if facts.noise_share > _NOISY:
        return "II", f"about {facts.noise_share:.0%} of the square of the features is noise."
    gap = facts.edge_cosine - facts.random_cosine
    if not math.isnan(gap) and gap > _ALIKE and facts.odd_edges > _ODD:
        return "IV", (
            f"neighbours resemble each other on the whole, yet {facts.odd_edges:.0%} of the edges join nodes "
            "less alike than random pairs: such edges are not to be trusted."
        )
    return "plain", "nothing speaks against the edges or the features."
