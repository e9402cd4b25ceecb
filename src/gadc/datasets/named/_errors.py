"""What can go wrong between a name and its data; all of it is an OSError or a ValueError as well."""


class DatasetNotFoundError(FileNotFoundError):
    """A file of a data set is in none of the places and could not be downloaded."""


class ChecksumError(ValueError):
    """A file is not the published one, byte for byte."""

    def __init__(self, file: str, expected: str, got: str) -> None:
        super().__init__(
            f"checksum: {file} is not the published file: expected SHA-256 {expected}, got {got}. "
            "It was not opened; remove it and get it again."
        )
        self.file, self.expected, self.got = file, expected, got
