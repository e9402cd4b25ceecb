"""Readers of the published file formats: bytes in, `RawGraph` out."""
