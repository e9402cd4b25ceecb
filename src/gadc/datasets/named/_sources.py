"""Find files in the data folder, in the user cache or at their public address."""

import os
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from gadc._base.files import cache_folder
from gadc.datasets.named._checksums import check
from gadc.datasets.named._errors import ChecksumError, DatasetNotFoundError
from gadc.datasets.named._remote import download


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Find files by their path below a data folder and return their verified content.

    Args:
        root: Data folder; by default the folder in GADC_DATA, or none if that is not set.
        progress: Show a progress bar while downloading; False by default.
    """

    root: Path | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        given = self.root or os.environ.get("GADC_DATA")
        if not given:
            return
        root = Path(given).expanduser()
        if not root.is_dir():
            origin = "root" if self.root else "GADC_DATA"
            raise DatasetNotFoundError(f"data sets: {origin} must name a folder that exists, got '{root}'.")
        object.__setattr__(self, "root", root)

    @property
    def downloads(self) -> Path | None:
        """Folder of downloaded files in the user cache, laid out as a data folder; None without a home."""
        with suppress(OSError):
            return cache_folder() / "raw"
        return None

    @property
    def places(self) -> list[Path]:
        """Folders that are searched, in this order."""
        return [place for place in (self.root, self.downloads) if place]

    def find(self, path: str) -> Path | None:
        """Return the first place of the file, plain or zipped; None if it is not found."""
        for place in self.places:
            for name in (path, f"{path}.zip"):
                if (place / name).is_file():
                    return place / name
        return None

    def peek(self, path: str) -> bytes | None:
        """Return the verified content of a file, unzipped; None if it is not found.

        A damaged file in the user cache counts as not found, because a download replaces it. In the data
        folder, which belongs to the user, it is an error.

        Raises:
            ChecksumError: The file in the data folder is not the published one.
        """
        found = self.find(path)
        if found is None:
            return None
        content = found.read_bytes()
        try:
            check(content, f"{path}.zip" if found.suffix == ".zip" else path, str(found))
        except ChecksumError:
            if self.downloads and found.is_relative_to(self.downloads):
                return None
            raise
        return _unzip(content) if found.suffix == ".zip" else content

    def read(self, path: str, *, owner: str) -> bytes:
        """Return the content of a file and download the file if needed.

        The bytes that were hashed are returned, so that the file cannot change in between.

        Args:
            path: Path below a data folder.
            owner: Name of the data set, for the error.

        Raises:
            DatasetNotFoundError: The file was not found and could not be downloaded.
            ChecksumError: The file is not the published one.
        """
        content = self.peek(path)
        if content is None:
            file = self.fetch(path, owner=owner)
            content = file.read_bytes()
            check(content, path, str(file))
        return content

    def fetch(self, path: str, *, owner: str) -> Path:
        """Download a file into the user cache."""
        try:
            return download(path, cache_folder() / "raw", progress=self.progress)
        except OSError as error:
            places = ", ".join(str(place) for place in self.places) or "any folder"
            raise DatasetNotFoundError(
                f"{owner}: the file {path} was not found in {places}, and it could not be downloaded: "
                f"{error}. `gadc data get {owner}` downloads all public files; any other file has to be "
                f"copied to {self.places[0] / path if self.places else path}, or GADC_DATA set to a folder "
                "that has it."
            ) from error


def _unzip(content: bytes) -> bytes:
    """Return the only member of a zip archive."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        (member,) = archive.namelist()
        return archive.read(member)
