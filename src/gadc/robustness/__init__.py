"""Robustness of node classifiers: suspicious edges."""

from gadc.robustness.edges import suspicious_edges

__all__ = ["suspicious_edges"]
