"""`gadc edges`: the ledger of edges not to trust."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc.cli._bundles import spread
from gadc.cli._fit import training_labels
from gadc.cli._graph_input import GraphInput, adjacency_matrix, feature_table, id_column, tell_notes
from gadc.cli._output import (
    AsJson,
    check_table_path,
    print_facts,
    print_json,
    print_rows,
    say,
    working,
    write_table,
)
from gadc.cli._predict import load_model, matched_features

if TYPE_CHECKING:
    import polars as pl
    from torch import Tensor
    from torch_geometric.data import Data

    from gadc.estimators import GADCClassifier

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
    model: Annotated[
        Path | None,
        typer.Option("--model", help="File of `gadc fit` for the effects; without it one is fitted quickly."),
    ] = None,
    effects: Annotated[
        int, typer.Option("--effects", min=0, help="Of how many of the first edges to show the effect.")
    ] = 100,
    truth: Annotated[
        Path | None, typer.Option("--truth", help="Table of edges known to be false, to judge the score by.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Rank the edges by how little they can be trusted, the most suspicious first.

    The table holds rank, both ids, cosine of the features, weight before and after (in variant IV), score,
    the probability that the edge is false (if false edges look like random ones), and for the first --effects
    edges how the probability of the predicted class changes at either end when that edge alone is removed
    (by --model, or by plain diffusion fitted to the labels). Where false edges are known (--truth, an
    attacked data set, or --noise edge-addition) it also says which they are, and how well the score finds
    them is printed.

    Example: gadc edges --edges edges.csv --nodes nodes.csv -o suspicious.parquet
    """
    if out is not None:
        check_table_path(out)
    with working("Reading the graph"):
        data = graph.read()
    tell_notes(data)
    classifier = _model(model, data, graph.seed) if effects else None
    with working("Scoring the edges"):
        ledger, found = _ledger(data, score, _known_false(data, truth, graph), graph.seed)
    if classifier is not None:
        with working("Removing edges one by one"):
            ledger = _with_effects(ledger, effects, classifier, data)
    ledger = ledger.drop("_u", "_v")
    if out is not None:
        write_table(ledger, out)
    facts = {"out": None if out is None else str(out), "edges": len(ledger), "score": score, **found}
    if as_json:
        return print_json({**facts, "first": ledger.head(_SHOWN).to_dicts()})
    print_facts(graph.title, facts)
    shown = ledger.head(_SHOWN).drop("weight_before", "weight_after")
    shown = shown.with_columns(shown[name].cast(str) for name in shown.columns[1:3])  # ids are no amounts
    print_rows("The least trusted", shown.to_dicts())


def _known_false(data: "Data", truth: Path | None, graph: GraphInput) -> "Tensor | None":
    """Pairs known to be false, (2, k), or None if nothing is known."""
    import polars as pl

    from gadc.datasets import changed_edges, from_tables
    from gadc.robustness.edges._scores import undirected_pairs

    if truth is None:
        added = changed_edges(data)[0] if "clean_edge_index" in data else None
        return added if added is not None and added.shape[1] else None
    nodes = pl.DataFrame({"id": id_column(data)})
    listed = from_tables(truth, nodes, source=graph.source, target=graph.target, node_id="id")
    return undirected_pairs(listed.edge_index, int(data.num_nodes))


def _ledger(
    data: "Data", score: str, false: "Tensor | None", seed: int
) -> tuple["pl.DataFrame", dict[str, Any]]:
    """All edges by falling score with their node numbers, and how well the score finds those known false."""
    import polars as pl

    from gadc.robustness.edges._calibration import calibrated_suspicion
    from gadc.robustness.edges._scores import detection

    judged = calibrated_suspicion(data.x, data.edge_index, score=score, seed=seed)
    pairs, before, after, cosine = _weights(data)
    ids, (u, v) = id_column(data), pairs.numpy()
    columns = {
        **dict(zip(_end_names(data), (ids.gather(u), ids.gather(v)), strict=True)),
        "cosine": cosine.numpy(),
        "weight_before": before.numpy(),
        "weight_after": after.numpy(),
        "score": judged.scores.numpy(),
        "probability": judged.probability.numpy(),
    }
    found: dict[str, Any] = {"expected_false": float(judged.probability.sum())}
    if false is not None:
        here = _among(pairs, false, int(data.num_nodes))
        columns["known_false"] = here.numpy()
        count = int(here.sum())
        found |= {"known_false": count, "known_false_not_in_graph": false.shape[1] - count}
        found |= detection(judged.scores, here)
    ledger = pl.DataFrame({**columns, "_u": u, "_v": v}).sort("score", descending=True, maintain_order=True)
    return ledger.with_row_index("rank", offset=1), found


def _model(path: Path | None, data: "Data", seed: int) -> "GADCClassifier | None":
    """The model in a file, or a quick one of the labels, which trusts all edges: their harm shows in it."""
    if path is not None:
        return load_model(path)
    if data.y is None or not (data.y >= 0).any():
        say("note: no effects on predictions, as there is neither --model nor a label")
        return None
    from gadc.estimators import GADCClassifier

    quick = GADCClassifier(variant="plain", lam=4.0, num_steps=4, random_state=seed)
    with working("Training plain diffusion"):
        return quick.fit(feature_table(data), training_labels(data), adjacency_matrix(data))


def _with_effects(
    ledger: "pl.DataFrame", first: int, model: "GADCClassifier", data: "Data"
) -> "pl.DataFrame":
    """The ledger with the effects of its first edges; the others' cells are empty."""
    import polars as pl
    import torch

    from gadc.robustness.edges._effects import edge_effects

    pairs = torch.from_numpy(ledger.head(first).select("_u", "_v").to_numpy().T.copy())
    x = torch.from_numpy(matched_features(model, data))
    changes = edge_effects(model, x, data.edge_index, data.get("edge_weight"), pairs)
    rest = [None] * (len(ledger) - pairs.shape[1])
    rounded = changes.round(decimals=6).tolist()  # the rest is the rounding of single precision
    named = zip(("effect_source", "effect_target"), rounded, strict=True)
    columns = [pl.Series(name, [*effects, *rest], dtype=pl.Float64) for name, effects in named]
    place = ledger.columns.index("probability") + 1
    for column in reversed(columns):
        ledger = ledger.insert_column(place, column)
    return ledger


def _among(pairs: "Tensor", others: "Tensor", num_nodes: int) -> "Tensor":
    """Which of the pairs are among the others."""
    import torch

    return torch.isin(pairs[0] * num_nodes + pairs[1], others[0] * num_nodes + others[1])


def _weights(data: "Data") -> tuple["Tensor", "Tensor", "Tensor", "Tensor"]:
    """The pairs, their weights before and in variant IV, and their cosines."""
    import torch

    from gadc.diffusion._graph import adjacency
    from gadc.diffusion._transitions import transition
    from gadc.robustness.edges._scores import EdgeView

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
    taken = {"rank", "cosine", "weight_before", "weight_after", "score", "probability", "known_false"}
    taken |= {"effect_source", "effect_target", "_u", "_v"}
    return ("source", "target") if taken & set(names) else names
