"""What several tests share: the paper in dense float64, small graphs, small models."""
