"""Named data sets: registry, files, readers and splits."""
