"""Whether a data set can be loaded here and now, without reading its files."""

from contextlib import suppress
from importlib.util import find_spec

from gadc._base.files import cache_folder
from gadc.datasets.named._records import DatasetRecord
from gadc.datasets.named._remote import has_address
from gadc.datasets.named._sources import Sources


def state_of(name: str, record: DatasetRecord, sources: Sources) -> str:
    """Return "ready" if `load(name)` needs nothing else, or what it needs.

    Args:
        name: Name of the data set.
        record: Its record.
        sources: Where files are searched.
    """
    if name == "digits" or record.make is not None:
        return "ready"
    if record.read is None:
        return "downloads by ogb" if find_spec("ogb") else "needs gadc[ogb]"
    needed = [*([] if _is_parsed(name) else record.files), *record.splits[record.default_split]]
    missing = [file for file in needed if sources.find(file) is None]
    if not missing:
        return "ready"
    return "needs download" if all(map(has_address, missing)) else "needs files"


def _is_parsed(name: str) -> bool:
    """Return whether the parsed graph is in the user cache."""
    with suppress(OSError):
        return (cache_folder() / "processed" / name / "manifest.json").is_file()
    return False
