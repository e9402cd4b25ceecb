"""The tables of the paper: what they are, how they are run, and what came of it."""
