"""`gadc edges`: the ledger of edges not to trust."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc.cli.bundles import spread
from gadc.cli.graph_input import GraphInput, id_column, tell_notes
from gadc.cli.output import (
    AsJson,
    check_table_path,
    print_facts,
    print_json,
    print_rows,
    working,
    write_table,
)

if TYPE_CHECKING:
    import polars as pl
    from torch import Tensor
    from torch_geometric.data import Data

_SHOWN = 10


@spread
def edges(
    graph: GraphInput,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Table to write: .parquet, .csv or .feather.")
    ] = None,
    score: Annotated[
        str,
        typer.Option("--score", help="combined, denoised, neighbours, centred, cosine or common."),
    ] = "combined",
    truth: Annotated[
        Path | None, typer.Option("--truth", help="Table of edges known to be false, to judge the score by.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Rank the edges by how little they can be trusted, the most suspicious first.

    The table holds rank, both ids, cosine of the features, weight before and after (in variant IV) and score.
    Where false edges are known (--truth, an attacked data set, or --noise edge-addition) it also says which
    they are, and how well the score finds them is printed.

    Example: gadc edges --edges edges.csv --nodes nodes.csv -o suspicious.parquet
    """
    if out is not None:
        check_table_path(out)
    with working("Reading the graph"):
        data = graph.read()
    tell_notes(data)
    with working("Scoring the edges"):
        ledger, found = _ledger(data, score, _known_false(data, truth, graph))
    if out is not None:
        write_table(ledger, out)
    facts = {"out": None if out is None else str(out), "edges": len(ledger), "score": score, **found}
    if as_json:
        return print_json({**facts, "first": ledger.head(_SHOWN).to_dicts()})
    print_facts(graph.title, facts)
    shown = ledger.head(_SHOWN)
    shown = shown.with_columns(shown[name].cast(str) for name in shown.columns[1:3])  # ids are no amounts
    print_rows("The least trusted", shown.to_dicts())


def _known_false(data: "Data", truth: Path | None, graph: GraphInput) -> "Tensor | None":
    """Pairs known to be false, (2, k), or None if nothing is known."""
    import polars as pl

    from gadc.datasets import changed_edges, from_tables
    from gadc.suspicion import undirected_pairs

    if truth is None:
        added = changed_edges(data)[0] if "clean_edge_index" in data else None
        return added if added is not None and added.shape[1] else None
    nodes = pl.DataFrame({"id": id_column(data)})
    listed = from_tables(truth, nodes, source=graph.source, target=graph.target, node_id="id")
    return undirected_pairs(listed.edge_index, int(data.num_nodes))


def _ledger(data: "Data", score: str, false: "Tensor | None") -> tuple["pl.DataFrame", dict[str, Any]]:
    """All edges by falling score, and how well it finds those known to be false."""
    import polars as pl

    from gadc.suspicion import detection, suspicion

    scores = suspicion(data.x, data.edge_index, score=score)
    pairs, before, after, cosine = _weights(data)
    ids, (u, v) = id_column(data), pairs.numpy()
    columns = {
        **dict(zip(_end_names(data), (ids.gather(u), ids.gather(v)), strict=True)),
        "cosine": cosine.numpy(),
        "weight_before": before.numpy(),
        "weight_after": after.numpy(),
        "score": scores.numpy(),
    }
    found: dict[str, Any] = {}
    if false is not None:
        here = _among(pairs, false, int(data.num_nodes))
        columns["known_false"] = here.numpy()
        found = {"known_false": int(here.sum()), "known_false_not_in_graph": false.shape[1] - int(here.sum())}
        found |= detection(scores, here)
    ledger = pl.DataFrame(columns).sort("score", descending=True, maintain_order=True)
    return ledger.with_row_index("rank", offset=1), found


def _among(pairs: "Tensor", others: "Tensor", num_nodes: int) -> "Tensor":
    """Which of the pairs are among the others."""
    import torch

    return torch.isin(pairs[0] * num_nodes + pairs[1], others[0] * num_nodes + others[1])


def _weights(data: "Data") -> tuple["Tensor", "Tensor", "Tensor", "Tensor"]:
    """The pairs, their weights before and in variant IV, and their cosines."""
    import torch

    from gadc.graph import adjacency
    from gadc.suspicion import EdgeView
    from gadc.transitions import transition

    view = EdgeView.of(data.x, data.edge_index)
    graph = adjacency(data.edge_index, data.get("edge_weight"), int(data.num_nodes))
    after = transition(data.x, data.edge_index, data.get("edge_weight"), variant="IV")
    n, pattern = graph.shape[0], graph.pattern
    place = torch.searchsorted(pattern.rows.long() * n + pattern.cols, view.pairs[0] * n + view.pairs[1])
    return view.pairs, graph.values[place], after.values[place], view.cosines(view.x)


def _end_names(data: "Data") -> tuple[str, str]:
    """What the user calls the two ends of an edge."""
    report = data.get("table_report")
    columns = {} if report is None else report.columns
    names = columns.get("source", "source"), columns.get("target", "target")
    taken = {"rank", "cosine", "weight_before", "weight_after", "score", "known_false"}
    return ("source", "target") if taken & set(names) else names
