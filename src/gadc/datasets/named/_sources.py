"""The places a file is looked for: the data folder, the user cache, then its public address."""

import os
import zipfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from gadc._base.files import cache_folder
from gadc.datasets.named._checksums import check
from gadc.datasets.named._errors import ChecksumError, DatasetNotFoundError
from gadc.datasets.named._remote import download


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Finds files by their path below a data folder and gives their verified content.

    Args:
        root: Data folder; None takes GADC_DATA, or no folder if that is unset.
        progress: Show a bar while downloading.
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
    def downloads(self) -> Path:
        """Part of the user cache that holds raw files, in the layout of a data folder."""
        return cache_folder() / "raw"

    @property
    def places(self) -> list[Path]:
        """Folders that are searched, in this order."""
        return [*([self.root] if self.root else []), self.downloads]

    def find(self, path: str) -> Path | None:
        """First place that has the file, plain or zipped; None if no place has it."""
        for place in self.places:
            for name in (path, f"{path}.zip"):
                if (place / name).is_file():
                    return place / name
        return None

    def peek(self, path: str) -> bytes | None:
        """Verified content of a file that is there, unzipped; None where it is absent.

        A damaged file in the user cache counts as absent, since a download replaces it; in the data folder,
        which belongs to the user, it is an error.

        Raises:
            ChecksumError: The data folder has the file, but it is not the published one.
        """
        found = self.find(path)
        if found is None:
            return None
        content = found.read_bytes()
        try:
            check(content, f"{path}.zip" if found.suffix == ".zip" else path, str(found))
        except ChecksumError:
            if found.is_relative_to(self.downloads):
                return None
            raise
        return _unzip(content) if found.suffix == ".zip" else content

    def read(self, path: str, *, owner: str) -> bytes:
        """Content of a file: what was hashed is what is returned, so nothing can change in between.

        Args:
            path: Path below a data folder.
            owner: Name of the data set, for the error.

        Raises:
            DatasetNotFoundError: No place has the file and it could not be downloaded.
            ChecksumError: A file is there, or was downloaded, but it is not the published one.
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
            return download(path, self.downloads, progress=self.progress)
        except OSError as error:
            places = ", ".join(str(place) for place in self.places)
            raise DatasetNotFoundError(
                f"{owner}: the file {path} was not found. Looked in: {places}. Download: {error}. "
                f"With a network, `gadc data get {owner}` gets what is public; "
                f"by hand, put the file at {self.places[0] / path}."
            ) from error


def _unzip(content: bytes) -> bytes:
    """The only member of an archive."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        (member,) = archive.namelist()
        return archive.read(member)
