"""Edges that should not be trusted.

- `suspicious_edges`: all edges of a graph as a table, the least trusted first (the command `gadc edges`).
- `rank_new_edges`: proposed edges as a table, ranked against the graph (the command `gadc edges --new`).
- `edge_scores`, `SCORES`: how little the features and neighborhoods of its ends speak for an edge.
- `calibrate_scores`, `CalibratedScores`: the probability that an edge is false.
- `edge_effects`: how the predictions at its ends change if an edge is removed.
- `detection_quality`: how well scores find edges that are known to be false.
- `undirected_pairs`: the edges in the order in which they are scored.
"""

from gadc.robustness.edges._calibration import CalibratedScores, calibrate_scores
from gadc.robustness.edges._effects import edge_effects
from gadc.robustness.edges._new_edges import rank_new_edges
from gadc.robustness.edges._scores import SCORES, detection_quality, edge_scores, undirected_pairs
from gadc.robustness.edges._table import suspicious_edges

__all__ = [
    "SCORES",
    "CalibratedScores",
    "calibrate_scores",
    "detection_quality",
    "edge_effects",
    "edge_scores",
    "rank_new_edges",
    "suspicious_edges",
    "undirected_pairs",
]
