"""The training loop and the heads."""
