"""Options that several commands share, as dataclasses or annotated types."""
