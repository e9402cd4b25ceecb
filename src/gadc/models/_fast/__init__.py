"""What makes training fast on large sparse inputs, with the same results."""
