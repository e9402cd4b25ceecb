"""Where the files are published. Addresses are facts; the SHA-256 decides whether the content is believed.

The classes of PyTorch Geometric know the addresses of the sets they cover. Only their `url` is used: their
own download checks neither the certificate of the host nor the content.
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

# Pattern of the path -> address. `pyg` is torch_geometric.datasets, `file` the name of the file,
# other fields are groups of the pattern. The first pattern that fits wins.
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


def address(path: str) -> str | None:
    """Public address of a file, or None where it has to be placed by hand."""
    for pattern, template in _ADDRESSES.items():
        if match := re.fullmatch(pattern, path):
            import torch_geometric.datasets as pyg  # slow to import, and only needed here

            return template.format(pyg=pyg, file=PurePosixPath(path).name, **match.groupdict())
    return None


def download(path: str, folder: Path, *, progress: bool = False) -> Path:
    """Download a file into `folder`; nothing is kept unless it is complete and its SHA-256 agrees.

    Raises:
        OSError: There is no network, no such page, or no known address.
        ChecksumError: What came is not the published file.
    """
    url = address(path)
    if url is None:
        raise OSError("no public address is known for it")
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
    except OSError as error:  # the words of the network library fill a screen
        raise OSError(f"{type(error).__name__} at {url}") from error
    except ValueError as error:  # pooch's word for a hash that differs; it keeps no such file
        digests = re.findall(r"\b[0-9a-f]{64}\b", str(error))
        raise ChecksumError(url, expected, digests[-1] if digests else "another one") from error
    return target
