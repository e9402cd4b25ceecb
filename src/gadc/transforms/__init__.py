"""Steps Data -> Data: noise of every kind, and purifications that take an attack back out."""
