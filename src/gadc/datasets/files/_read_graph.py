"""`read_graph`: a graph from one file, whatever its format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from torch_geometric.data import Data

from gadc._base.memory import MemoryLimitError
from gadc.datasets._border import check_graph
from gadc.datasets.files._edge_list import read_edge_list
from gadc.datasets.files._graphml import read_graphml
from gadc.datasets.files._npz import read_npz
from gadc.datasets.files._saved_data import read_saved
from gadc.datasets.tables._files import require_file, require_suffix
from gadc.datasets.tables._from_tables import from_tables
from gadc.datasets.tables._preparation import FeaturePreparation
from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import guarded

_EDGE_LISTS = (".edgelist", ".edges", ".txt")
SUFFIXES = (".npz", ".graphml", ".pt", *_EDGE_LISTS)


def read_graph(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    weight: str | None = None,
    features: Sequence[str] | None = None,
    categorical: str = "skip",
    missing: str = "error",
    directed: bool = False,
    preparation: FeaturePreparation | None = None,
    keep_rows: bool = False,
    sparse_features: bool = False,
    weight_scale: str = "none",
) -> Data:
    """Read a graph from one file; its suffix tells the format.

    The formats are .npz (NumPy archive), .graphml, .edgelist, .edges or .txt (edge list with "a b" or
    "a b weight" in each line) and .pt (a `Data` that was saved with `torch.save`).

    Args:
        path: The file.
        label: Node attribute of the classes; guessed by default. This argument and the next four are for
            GraphML only.
        weight: Edge attribute of the weights; no weights by default.
        features: Node attributes to read as features; by default all that can be features.
        categorical: As in `from_tables`; "skip" by default.
        missing: As in `from_tables`; "error" by default.
        directed: Keep the edges as listed instead of in both directions; False by default. A saved `Data` is
            returned as it is.
        preparation: As in `from_tables`; None by default.
        keep_rows: As in `from_tables`, for edge lists and GraphML; False by default.
        sparse_features: Keep features that .npz and .pt files store as sparse matrices in a sparse CSR tensor
            of float32, if at most one entry in nine is not zero (.npz); False by default. Other features are
            dense. It cannot be combined with a preparation.
        weight_scale: As in `from_tables`, for edge lists and GraphML; "none" by default.

    Returns:
        Data with the attributes that `from_tables` describes.

    Raises:
        TableError: The file cannot be read as a graph.

    Examples:
        >>> import os, tempfile
        >>> from gadc.datasets import csbm, read_graph, write_npz
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "graph.npz")
        ...     write_npz(csbm(50), path)
        ...     data = read_graph(path)
        >>> data.num_nodes
        50
    """
    path = Path(path)
    require_suffix(path, list(SUFFIXES))
    require_file(path)
    suffix = path.suffix.lower()
    if sparse_features and preparation is not None:
        raise ValueError("read_graph: sparse_features must be False with a preparation, got True.")
    if suffix in (".npz", ".pt"):
        data = (
            read_saved(path)
            if suffix == ".pt"
            else read_npz(path, directed=directed, sparse_features=sparse_features)
        )
        data = _checked(path, data, sparse_features)
        return data if preparation is None or data.x is None else preparation.apply(data)
    with guarded(str(path)):
        edges, nodes = read_graphml(path) if suffix == ".graphml" else read_edge_list(path)
    if suffix != ".graphml":
        weight = "weight" if "weight" in edges.schema else None
    (source, target, *_), (node_id, *_) = edges.schema, nodes.schema
    return from_tables(
        edges,
        nodes,
        source=source,
        target=target,
        weight=weight,
        node_id=node_id,
        label=label,
        features=features,
        categorical=categorical,
        missing=missing,
        directed=directed,
        preparation=preparation,
        keep_rows=keep_rows,
        weight_scale=weight_scale,
    )


def _checked(path: Path, data: Data, keep_sparse: bool) -> Data:
    """Pass a graph through the border; an error names the file."""
    try:
        return check_graph(str(path), data, keep_sparse=keep_sparse)
    except MemoryLimitError:
        raise
    except (TypeError, ValueError) as error:
        raise TableError(str(error)) from error
