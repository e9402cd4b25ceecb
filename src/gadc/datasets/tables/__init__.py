"""Graphs from tables of nodes and edges."""
