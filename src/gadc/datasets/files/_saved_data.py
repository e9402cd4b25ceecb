"""PyTorch Geometric `Data` objects that were saved with `torch.save`."""

from __future__ import annotations

import pickle
from pathlib import Path

import torch
from torch_geometric.data import Data
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import GlobalStorage

from gadc._base.validation import check_edge_index
from gadc.datasets.tables._preparation import FeatureColumn, FeaturePreparation
from gadc.datasets.tables._report import TableError, TableReport
from gadc.datasets.tables._table import guarded

# The classes that a saved Data consists of besides tensors and plain values; loading them runs no code.
_OWN = [TableReport, FeatureColumn, FeaturePreparation]
torch.serialization.add_safe_globals([Data, DataEdgeAttr, DataTensorAttr, GlobalStorage, *_OWN])


def read_saved(path: Path) -> Data:
    """Load a saved `Data`, but no other object: loading those could run code.

    Raises:
        TableError: The file holds anything else, or a `Data` without valid edges.
    """
    with guarded(str(path)):
        try:
            data = torch.load(path, map_location="cpu", weights_only=True)
        except pickle.UnpicklingError as error:
            raise TableError(
                "the file holds objects other than a Data of tensors and plain values; it was not opened, "
                "because that could run code of its author.",
                file=str(path),
            ) from error
        if not isinstance(data, Data):
            raise TableError(
                f"the file must hold a PyTorch Geometric Data, got {type(data).__name__}.", file=str(path)
            )
        if data.edge_index is None:
            raise TableError("the saved Data has no edge_index.", file=str(path))
        check_edge_index("edge_index", data.edge_index, int(data.num_nodes))
    return data
