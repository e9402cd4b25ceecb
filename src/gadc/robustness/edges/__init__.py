"""Edges not to trust: their scores, how likely each is false, and what removing it does."""
