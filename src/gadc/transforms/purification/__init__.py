"""Steps graph -> graph that take an attack back out before any model sees the graph.

    Jaccard        drops edges between nodes that share hardly a feature
    Garnet         rebuilds the graph from the leading spectrum of the normalised adjacency
    Stable         drops and adds edges by embeddings learned without labels
    TruncatedPPR   a low-rank adjacency, its PageRank, the largest entries of each row
    LowRank        the low-rank adjacency itself, as a transition `(x, edge_index, edge_weight) -> operator`

All but the last are frozen settings called on a `Data`, and give a new one. A low-rank adjacency has n²
entries of both signs, so it stays in factors and goes where a transition does:
`diffuse(..., variant=LowRank())`.
"""

from __future__ import annotations

from gadc.diffusion import LowRank
from gadc.transforms.purification._garnet import Garnet
from gadc.transforms.purification._jaccard import Jaccard
from gadc.transforms.purification._stable import Stable
from gadc.transforms.purification._truncated_ppr import TruncatedPPR

__all__ = ["Garnet", "Jaccard", "LowRank", "Stable", "TruncatedPPR"]
