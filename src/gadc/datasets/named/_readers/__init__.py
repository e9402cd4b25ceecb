"""Readers of published file formats: they take the content of files and return a `RawGraph`."""
