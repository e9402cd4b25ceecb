"""Suspicious edges of a packed graph: scores by row ranges, ranks by counting."""

from gadc.packed._edges._suspicious import SuspiciousEdges, edge_stages, make_edge_run, suspicious_edges
from gadc.packed._edges._truth import read_pairs

__all__ = ["SuspiciousEdges", "edge_stages", "make_edge_run", "read_pairs", "suspicious_edges"]
