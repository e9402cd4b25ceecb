"""PyTorch Geometric `Data` objects that were saved with `torch.save`."""

from __future__ import annotations

import pickle
from dataclasses import fields
from pathlib import Path

import torch
from torch_geometric.data import Data
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import GlobalStorage

from gadc.datasets.tables._preparation import FeatureColumn, FeaturePreparation
from gadc.datasets.tables._report import TableError, TableReport
from gadc.datasets.tables._table import guarded
from gadc.datasets.tables._times import TimeWindow
from gadc.datasets.tables._weights import WeightScale

# The classes that a saved Data consists of besides tensors and plain values; loading them runs no code.
_OWN = [TableReport, FeatureColumn, FeaturePreparation, TimeWindow, WeightScale]
torch.serialization.add_safe_globals([Data, DataEdgeAttr, DataTensorAttr, GlobalStorage, *_OWN])


def read_saved(path: Path) -> Data:
    """Load a saved `Data`, but no other object: loading those could run code.

    Raises:
        TableError: The file holds anything else, or a `Data` without edges.
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
    if not _is_sound(data.get("table_report")):
        del data.table_report
    if data.get("feature_preparation") is not None and not _is_preparation(data.feature_preparation):
        del data.feature_preparation
    return data


def _is_preparation(value: object) -> bool:
    """Tell whether a stored preparation has the attributes and types that its methods rely on."""
    try:
        return isinstance(value, FeaturePreparation) and value == FeaturePreparation.from_dict(
            value.to_dict()
        )
    except (AttributeError, TypeError, ValueError, RecursionError):
        return False


def _is_sound(report: object) -> bool:
    """Tell whether a report has the attributes and types that readers of it rely on."""
    if not isinstance(report, TableReport):
        return report is None
    kinds = {one.name: type(getattr(report, one.name, None)) for one in fields(report)}
    expected = {"columns": dict, "left_out": dict, "imputed": dict, "notes": list, "features": list}
    return all(kinds[name] is kind for name, kind in expected.items())
