"""Faster ways to compute what training needs: dropout, sparse features, attention and parts of a graph."""
