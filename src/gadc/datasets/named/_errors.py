"""Errors of named data sets; each is an OSError or a ValueError, too."""


class DatasetNotFoundError(FileNotFoundError):
    """The data folder or a file of a data set was not found, and the file could not be downloaded.

    Examples:
        >>> from gadc.datasets import DatasetNotFoundError, load
        >>> try:
        ...     load("cora", root="no/such/folder")
        ... except DatasetNotFoundError as error:
        ...     print(error)
        data sets: root must name a folder that exists, got 'no/such/folder'.
    """


class ChecksumError(ValueError):
    """A file differs from the published file.

    Args:
        file: The file.
        expected: SHA-256 of the published file.
        got: SHA-256 of the file that was found.

    Examples:
        >>> from gadc.datasets import ChecksumError
        >>> error = ChecksumError("cora.npz", expected="9f86d0", got="60303a")
        >>> error.file, error.expected, error.got
        ('cora.npz', '9f86d0', '60303a')
    """

    def __init__(self, file: str, expected: str, got: str) -> None:
        super().__init__(
            f"checksum: {file} is not the published file: expected SHA-256 {expected}, got {got}. "
            "It was not opened; remove it and download it again."
        )
        self.file, self.expected, self.got = file, expected, got
