"""The products in plain torch, on any device."""
