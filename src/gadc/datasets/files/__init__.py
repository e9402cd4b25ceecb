"""Graphs from single files."""
