"""Training: the loop, model selection, callbacks, and the heads that are trained on fixed features."""
