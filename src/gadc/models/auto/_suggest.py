"""A suggestion from the facts alone, for graphs without labels to validate on."""

from __future__ import annotations

import math

from gadc.models.auto._facts import Facts
from gadc.models.auto.candidates import Alone, Candidate, Diffused

SUGGESTED: dict[str, Candidate] = {
    "none": Alone(),
    "plain": Diffused(variant="plain", lam=8.0, num_steps=8),
    "I": Diffused(variant="I", lam=1.0, num_steps=4, eps=1.0),
    "II": Diffused(variant="II", lam=64.0, num_steps=16, eps=0.1),
    "IV": Diffused(variant="IV", lam=1.0, num_steps=2),
}
_FEW_EDGES = 20  # with labels at both ends; fewer say nothing about homophily
_NOISY = 0.9  # share of noise in the mean square of the features
_DISSIMILAR = 0.25  # share of edges whose ends are less similar than random pairs
_SIMILAR = 0.02  # by how much neighbours' cosines exceed those of random pairs, if features say anything


def suggest(facts: Facts) -> tuple[str, str]:
    """Suggest a family of candidates, and give the reason in words."""
    if not facts.edges:
        return "none", "there are no edges."
    if facts.labelled_edges >= _FEW_EDGES and facts.homophily < facts.chance_homophily:
        return "I", (
            f"neighbours have the same class less often ({facts.homophily:.0%}) than random pairs of nodes "
            f"({facts.chance_homophily:.0%}), so the graph is heterophilic."
        )
    if facts.noise_share > _NOISY:
        return "II", f"about {facts.noise_share:.0%} of the features' mean square is noise."
    gap = facts.edge_cosine - facts.random_cosine
    if not math.isnan(gap) and gap > _SIMILAR and facts.dissimilar_edges > _DISSIMILAR:
        return "IV", (
            f"neighbours are similar on average, but {facts.dissimilar_edges:.0%} of the edges connect nodes "
            "that are less similar than random pairs: such edges should not be trusted."
        )
    return "plain", "both the edges and the features look sound."
