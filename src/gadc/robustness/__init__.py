"""Attacks, the audit of a model, and edges not to trust."""
