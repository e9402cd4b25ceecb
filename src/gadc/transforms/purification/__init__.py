"""Purification: replace the edges of an attacked graph before any model sees it.

    Jaccard        drops edges between nodes that share hardly any feature
    Garnet         rebuilds the graph from the leading spectrum of the normalised adjacency
    Stable         drops and adds edges by embeddings learned without labels
    TruncatedPPR   keeps the largest entries of PageRank over a low-rank adjacency

All are frozen transforms that return a changed copy of a `Data`. `clean_edge_index` and everything that
belongs to nodes stay as they are.
"""

from gadc.transforms.purification._garnet import Garnet
from gadc.transforms.purification._jaccard import Jaccard
from gadc.transforms.purification._stable import Stable
from gadc.transforms.purification._truncated_ppr import TruncatedPPR

__all__ = ["Garnet", "Jaccard", "Stable", "TruncatedPPR"]
