"""New nodes and their edges beside the tables of a known graph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc.cli._graph_data import check_scales, tell_notes
from gadc.cli._options.graph import GraphOptions
from gadc.datasets import FeaturePreparation, from_tables

if TYPE_CHECKING:
    from gadc.cli._graph_data import AnyModel

_OF_EDGES = ("weight", "time")  # roles of columns that a table without edges does not need


def add_nodes(graph: GraphOptions, model: AnyModel, known: Data, nodes: Path, edges: Path) -> Data:
    """Return the known graph joined with new nodes, which are numbered after the known ones.

    Args:
        graph: Options of the known graph; its column names hold for the new tables as well.
        model: The model, which says how features and weights are computed.
        known: The known graph.
        nodes: Table of the new nodes.
        edges: Table of their edges, to known nodes or among each other.
    """
    preparation = check_scales(model)
    if preparation is None or known.get("node_ids") is None:
        raise ValueError("--add-nodes requires a model and a graph of tables (--edges and --nodes).")
    if graph.right_nodes is not None:
        raise ValueError("--add-nodes cannot be used with --right-nodes; add the rows to the tables.")
    if model.relation_weights_ is not None:
        raise ValueError("--add-nodes requires a model that was fitted without --relation.")
    new = read_new_nodes(graph, preparation, nodes)
    tell_notes(new, compare_scales=False)
    ids = _all_ids(known.node_ids, new.node_ids)
    joined = _read_edges(graph, preparation, ids, edges, signed=model.signed)
    parts = [(known.edge_index, known.get("edge_weight")), (joined.edge_index, joined.get("edge_weight"))]
    return Data(
        x=torch.cat([known.x, new.x.to(known.x.dtype)]),
        edge_index=torch.cat([pairs for pairs, _ in parts], 1),
        edge_weight=_weights(parts),
        num_nodes=len(ids),
        node_ids=ids,
        feature_names=known.feature_names,
        table_report=known.table_report,
    )


def read_new_nodes(graph: GraphOptions, preparation: FeaturePreparation, nodes: Path) -> Data:
    """Read a node table without edges; features are computed as the preparation says."""
    roles = preparation.roles
    ends: dict[str, list[str]] = {roles.get(role, role): [] for role in ("source", "target")}
    nothing = pl.DataFrame(ends, schema=dict.fromkeys(ends, pl.String))
    of_nodes = replace(preparation, roles={role: roles[role] for role in roles if role not in _OF_EDGES})
    return from_tables(
        nothing, nodes, node_id=graph.node_id, preparation=of_nodes, csv_options=graph.csv_options
    )


def _read_edges(
    graph: GraphOptions, preparation: FeaturePreparation, ids: list[Any], edges: Path, *, signed: bool
) -> Data:
    """Read the new edges between any two of the ids."""
    name = preparation.roles.get("node id", "id")
    without = replace(preparation, columns=())  # ids alone; weights are compressed as in fit
    given: dict[str, Any] = {
        "source": graph.source,
        "target": graph.target,
        "weight": graph.weight,
        "node_id": name,
    }
    every = pl.DataFrame({name: ids})
    found = from_tables(
        edges,
        every,
        **given,
        unknown=graph.unknown or "error",
        preparation=without,
        csv_options=graph.csv_options,
        repair=graph.repairs,
        lenient=graph.lenient,
        signed=signed,
    )
    if int(found.num_nodes) != len(ids):
        raise ValueError(
            "--unknown add cannot be used with --add-nodes, since the added nodes have no features, got "
            f"{found.num_nodes - len(ids)} such nodes in {edges}."
        )
    return found


def _all_ids(known: list[Any], new: list[Any]) -> list[Any]:
    """Return all ids, as text where one side has text and the other numbers."""
    kinds = {type(one) for one in (*known[:1], *new[:1])}
    every = [*known, *new]
    return every if len(kinds) == 1 else [str(one) for one in every]


def _weights(parts: list[tuple[Tensor, Tensor | None]]) -> Tensor | None:
    """Return the weights of all edges; None without weights on either side."""
    if all(weight is None for _, weight in parts):
        return None
    filled = [torch.ones(pairs.shape[1]) if weight is None else weight for pairs, weight in parts]
    return torch.cat([weight.to(torch.float64) for weight in filled])
