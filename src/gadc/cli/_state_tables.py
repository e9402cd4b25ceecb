"""Ids and columns of the tables that a state was created from, kept with it, and tables read by them."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc.cli._added_nodes import read_new_nodes
from gadc.cli._graph_data import feature_names, id_column
from gadc.cli._options.graph import GraphOptions
from gadc.datasets import FeaturePreparation, from_tables
from gadc.diffusion import normalize_rows
from gadc.estimators._graph_data import read_preparation

_IDS, _TABLES = "ids.parquet", "tables.json"


@dataclass(frozen=True, eq=False)
class StateTables:
    """What a state remembers of its tables.

    Attributes:
        ids: Id of each node, under the name of the user's column.
        names: Names of the features.
        normalize: Row normalisation of the features.
        preparation: How features and weights are computed from tables; None for a named data set.
    """

    ids: pl.Series
    names: list[str]
    normalize: str
    preparation: FeaturePreparation | None

    @classmethod
    def of(cls, data: Data, normalize: str) -> StateTables:
        """Take what has to be remembered from a graph."""
        names = feature_names(data)
        return cls(id_column(data, taken=tuple(names)), names, normalize, read_preparation(data))

    @classmethod
    def read(cls, attachments: dict[str, bytes]) -> StateTables:
        """Read what was kept with a state."""
        if _IDS not in attachments or _TABLES not in attachments:
            raise ValueError(
                "the state was not created by `gadc update`, so it has no ids; create it by that command."
            )
        stored = json.loads(attachments[_TABLES])
        known = stored["preparation"]
        return cls(
            pl.read_parquet(io.BytesIO(attachments[_IDS])).to_series(),
            stored["names"],
            stored["normalize"],
            None if known is None else FeaturePreparation.from_dict(known),
        )

    def attachments(self) -> dict[str, bytes]:
        """Return the files to keep with a state."""
        buffer = io.BytesIO()
        self.ids.to_frame().write_parquet(buffer)
        known = None if self.preparation is None else self.preparation.to_dict()
        stored = {"names": self.names, "normalize": self.normalize, "preparation": known}
        return {_IDS: buffer.getvalue(), _TABLES: json.dumps(stored).encode()}

    def with_ids(self, new: list[Any]) -> StateTables:
        """Return the tables with the ids of new nodes."""
        more = pl.Series(self.ids.name, new, dtype=self.ids.dtype)
        return replace(self, ids=self.ids.append(more))

    def read_nodes(self, path: Path, graph: GraphOptions) -> tuple[list[Any], Tensor]:
        """Read a node table: its ids and its features, computed as when the state was created."""
        if self.preparation is None:
            raise ValueError("--nodes requires a state that was created from tables (--edges and --nodes).")
        data = read_new_nodes(graph, self.preparation, path)
        return list(data.node_ids), normalize_rows(data.x, self.normalize)

    def read_edges(self, path: Path, graph: GraphOptions) -> tuple[Tensor, Tensor | None]:
        """Read an edge table: each edge once, shape (2, k), and weights if the graph has them."""
        known: dict[str, Any] = {}
        if self.preparation is not None:
            known["preparation"] = replace(self.preparation, columns=())
        data = from_tables(
            path,
            self.ids.to_frame(),
            source=graph.source,
            target=graph.target,
            weight=graph.weight,
            node_id=self.ids.name,
            unknown=graph.unknown or "error",
            csv_options=graph.csv_options,
            repair=graph.repairs,
            lenient=graph.lenient,
            **known,
        )
        if int(data.num_nodes) != len(self.ids):
            raise ValueError("--unknown add cannot be used here, since the added nodes have no features.")
        once = data.edge_index[0] < data.edge_index[1]
        weight = data.get("edge_weight")
        return data.edge_index[:, once], None if weight is None else weight[once]

    def frame(self, rows: Tensor, features: Tensor) -> pl.DataFrame:
        """Return rows of the result as a table."""
        ids = self.ids.gather(rows.numpy())
        return ids.to_frame().hstack(pl.from_numpy(features.numpy(), schema=self.names))


def split_nodes(ids: pl.Series, listed: list[Any], x: Tensor) -> tuple[dict[int, Tensor], list[Any], Tensor]:
    """Divide a node table into new features by node number, ids of new nodes, and their features."""
    if ids.dtype == pl.String:
        listed = [str(one) for one in listed]
    place = {one: number for number, one in enumerate(ids.to_list())}
    known = {place[one]: x[k] for k, one in enumerate(listed) if one in place}
    new = [k for k, one in enumerate(listed) if one not in place]
    return known, [listed[k] for k in new], x[torch.tensor(new, dtype=torch.int64)]
