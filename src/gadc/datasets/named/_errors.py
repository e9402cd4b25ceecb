"""Errors of named data sets; each is an OSError or a ValueError, too."""


class DatasetNotFoundError(FileNotFoundError):
    """A file of a data set was not found and could not be downloaded."""


class ChecksumError(ValueError):
    """A file differs from the published file.

    Args:
        file: The file.
        expected: SHA-256 of the published file.
        got: SHA-256 of the file that was found.
    """

    def __init__(self, file: str, expected: str, got: str) -> None:
        super().__init__(
            f"checksum: {file} is not the published file: expected SHA-256 {expected}, got {got}. "
            "It was not opened; remove it and download it again."
        )
        self.file, self.expected, self.got = file, expected, got
