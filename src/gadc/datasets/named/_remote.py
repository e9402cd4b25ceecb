"""Public addresses of files, and the download; a file is kept only if its SHA-256 is the published one.

The addresses of many data sets are attributes of PyTorch Geometric's classes. Only these addresses are used:
the download of those classes checks neither the certificate of the host nor the content.
"""

import re
from pathlib import Path, PurePosixPath

import pooch

from gadc.datasets.named._checksums import known
from gadc.datasets.named._errors import ChecksumError

_PROGNN = "https://raw.githubusercontent.com/ChandlerBang/Pro-GNN/master"
_METATTACK = "https://raw.githubusercontent.com/danielzuegner/gnn-meta-attack/master/data"
_FIRST_CORNELL = (  # a copy of the first Geom-GCN release, which later corrected its Cornell
    "https://raw.githubusercontent.com/chennnM/GCNII/4a87bfeee74176353b103444bbb9ca25767685c0/new_data/cornell"
)

# Pattern of the path -> address. `pyg` is torch_geometric.datasets, `file` is the name of the file, and other
# fields are groups of the pattern. The first pattern that matches is used.
_ADDRESSES = {
    r"planetoid/.*": "{pyg.Planetoid.url}/{file}",
    r"splits/geom_gcn/.*": "{pyg.Planetoid.geom_gcn_url}/splits/{file}",
    r"splits/.*": _PROGNN + "/splits/{file}",
    r"webkb.*/.*_split_.*": "{pyg.WebKB.url}/splits/{file}",
    r"webkb/cornell/.*": _FIRST_CORNELL + "/{file}",
    r"webkb(_corrected)?/(?P<name>\w+)/raw/.*": "{pyg.WebKB.url}/new_data/{name}/{file}",
    r"actor/.*_split_.*": "{pyg.Actor.url}/splits/{file}",
    r"actor/.*": "{pyg.Actor.url}/new_data/film/{file}",
    r"coauthor/.*": "{pyg.Coauthor.url}{file}",
    r"amazon/.*\.npz": "{pyg.Amazon.url}{file}",
    r"heterophilous/.*": "{pyg.HeterophilousGraphDataset.url}/{file}",
    r"facebook100/.*": "{pyg.LINKXDataset.github_url}/facebook100/{file}",
    r"deeprobust/.*": _METATTACK + "/{file}",
    r"metattack_prognn/.*": _PROGNN + "/meta/{file}",
    r"nettack_prognn/.*": _PROGNN + "/nettack/{file}",
}


def has_address(path: str) -> bool:
    """Return whether a file can be downloaded."""
    return any(re.fullmatch(pattern, path) for pattern in _ADDRESSES)


def address(path: str) -> str | None:
    """Return the public address of a file; None if there is none and it has to be copied by hand."""
    for pattern, template in _ADDRESSES.items():
        if match := re.fullmatch(pattern, path):
            import torch_geometric.datasets as pyg  # slow to import

            return template.format(pyg=pyg, file=PurePosixPath(path).name, **match.groupdict())
    return None


def download(path: str, folder: Path, *, progress: bool = False) -> Path:
    """Download a file; nothing is kept unless it is complete and its SHA-256 agrees.

    Args:
        path: Path below a data folder.
        folder: Folder in the layout of a data folder.
        progress: Show a progress bar; False by default.

    Returns:
        The downloaded file.

    Raises:
        OSError: There is no network, the page does not exist, or no address is known.
        ChecksumError: The downloaded file is not the published one.
    """
    url = address(path)
    if url is None:
        raise OSError("no public address is known")
    target = folder / path
    expected = known()[path]
    try:
        pooch.retrieve(
            url,
            known_hash=f"sha256:{expected}",
            fname=target.name,
            path=target.parent,
            downloader=pooch.HTTPDownloader(progressbar=progress, timeout=30),
        )
    except OSError as error:  # the message of the network library fills a screen
        raise OSError(f"{type(error).__name__} at {url}") from error
    except ValueError as error:  # pooch raises it if the hash differs, and keeps no file
        digests = re.findall(r"\b[0-9a-f]{64}\b", str(error))
        raise ChecksumError(url, expected, digests[-1] if digests else "another one") from error
    return target
