"""`gadc update`: denoised features that follow a changing graph, kept in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc._base.deferred import deferred
from gadc._base.locks import sole_writer
from gadc.cli._graph_data import tell_notes
from gadc.cli._options.bundle import expand_bundles
from gadc.cli._options.graph import GraphOptions
from gadc.cli._options.output import AsJson, EscapeFormulas, check_folder, check_table_path
from gadc.cli._options.state import StateOptions
from gadc.cli._output import print_facts, print_json, say, write_table
from gadc.cli._progress import working

if TYPE_CHECKING:
    from torch import Tensor

    from gadc.cli._state_tables import StateTables
    from gadc.diffusion import DiffusionState

with deferred():
    import torch

    from gadc import diffusion as gadc_diffusion
    from gadc.cli import _state_tables as state_tables


@expand_bundles
def update(
    state: Annotated[Path, typer.Argument(help="Folder of the state; created if it holds none.")],
    graph: GraphOptions,
    diffusion: StateOptions,
    add: Annotated[Path | None, typer.Option("--add", help="Table of new edges.")] = None,
    remove: Annotated[Path | None, typer.Option("--remove", help="Table of edges that are gone.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="Table of the changed rows to write (.parquet, .csv or .feather; - prints CSV).",
        ),
    ] = None,
    escape_formulas: EscapeFormulas = False,
    as_json: AsJson = False,
) -> None:
    """Keep denoised features up to date while edges and nodes change.

    The first call creates the state from a graph (--edges and --nodes, or --data). Later calls take the
    changes: --add and --remove list edges, and --nodes lists nodes, where a known id gets the features of its
    row and an unknown id is a new node. --out receives the ids and features of the rows that changed, S X as
    the paper defines it (as `gadc denoise --paper-scale`), and after the first call those of all nodes.

    An update is applied whole or not at all, even if the process is killed: run the same command again. Edges
    that are there already, and edges to remove that are not there, are counted and left alone.

    Example: gadc update state/ --add new_edges.csv --remove gone.csv --nodes new_nodes.csv -o changed.parquet
    """
    check_table_path(out, escape_formulas=escape_formulas)
    check_folder(state, "STATE")
    exists = (state / "state.json").exists()
    if not exists and (add is not None or remove is not None):
        raise ValueError(
            f"--add and --remove require a state, and {str(state)!r} holds none; create it first."
        )
    if not exists and graph.nodes is not None and graph.edges is None:
        raise ValueError(f"--nodes alone requires a state, and {str(state)!r} holds none; add --edges.")
    state.mkdir(parents=True, exist_ok=True)
    with sole_writer("update", state / "update", "updating a state"):
        found, tables, rows, facts = (
            _change(state, graph, diffusion, add, remove) if exists else _create(graph, diffusion)
        )
        if out is not None:  # before the state is saved: after a kill, the same command writes it again
            write_table(tables.frame(rows, found.rows(rows)), out, escape_formulas=escape_formulas)
        with working("Saving the state"):
            found.save(state, attachments=tables.attachments() if facts.get("new_nodes", 1) else None)
    facts = {"state": str(state), "out": None if out is None else str(out), **facts}
    facts |= {"nodes": found.num_nodes, "edges": found.num_edges, "error_bound": found.error_bound}
    if as_json:
        return print_json(facts)
    print_facts(f"{state}, {'updated' if exists else 'created'}", facts)


def _create(
    graph: GraphOptions, options: StateOptions
) -> tuple[DiffusionState, StateTables, Tensor, dict[str, Any]]:
    """Create a state from a graph."""
    with working("Reading the graph"):
        data = graph.read()
    tell_notes(data)
    settings = options.settings()
    normalize = settings.pop("normalize")
    with working("Diffusing"):
        x = gadc_diffusion.normalize_rows(data.x, normalize)
        found = gadc_diffusion.DiffusionState(x, data.edge_index, data.get("edge_weight"), **settings)
    tables = state_tables.StateTables.of(data, normalize)
    rows = torch.arange(found.num_nodes)
    return found, tables, rows, {"changed_rows": len(rows), "settings": options.settings()}


def _change(
    folder: Path, graph: GraphOptions, options: StateOptions, add: Path | None, remove: Path | None
) -> tuple[DiffusionState, StateTables, Tensor, dict[str, Any]]:
    """Apply changes to a state."""
    options.refuse()
    if any((graph.edges, graph.graph, graph.db, graph.data)):
        raise ValueError(
            f"{str(folder)!r} holds a state already; give changes by --add, --remove and --nodes."
        )
    if not any((add, remove, graph.nodes)):
        raise ValueError(
            f"{str(folder)!r} holds a state already; give changes by --add, --remove or --nodes."
        )
    with working("Reading the changes"):
        found = gadc_diffusion.DiffusionState.load(folder)
        tables = state_tables.StateTables.read(found.attachments)
        changes: dict[str, Any] = {}
        ids: list[Any] = []
        if graph.nodes is not None:
            listed, x = tables.read_nodes(graph.nodes, graph)
            changes["x"], ids, changes["new_nodes"] = state_tables.split_nodes(tables.ids, listed, x)
            tables = tables.with_ids(ids) if ids else tables
        counts = _edge_changes(found, tables, graph, add, remove, changes)
    with working("Updating"):
        done = found.update(**changes)
    facts = {**counts, "new_nodes": len(ids), "changed_features": len(changes.get("x", ()))}
    facts |= {"changed_rows": len(done.changed_rows), "entries_read": done.entries_read}
    return found, tables, done.changed_rows, {**facts, "was_full": done.was_full}


def _edge_changes(
    found: DiffusionState,
    tables: StateTables,
    graph: GraphOptions,
    add: Path | None,
    remove: Path | None,
    changes: dict[str, Any],
) -> dict[str, int]:
    """Read the tables of edges into `changes`, and count their edges."""
    counts = {"added_edges": 0, "removed_edges": 0}
    if add is not None:
        pairs, weight = tables.read_edges(add, graph)
        new = ~_are_there(found, pairs)
        pairs, weight = pairs[:, new], None if weight is None else weight[new]
        changes["add"] = pairs if weight is None else (pairs, weight)
        counts["added_edges"] = pairs.shape[1]
        _tell(int((~new).sum()), "--add", "are in the graph already and stay as they are")
    if remove is not None:
        pairs, _ = tables.read_edges(remove, graph)
        there = _are_there(found, pairs)
        changes["remove"] = pairs[:, there]
        counts["removed_edges"] = int(there.sum())
        _tell(int((~there).sum()), "--remove", "are not in the graph")
    return counts


def _are_there(found: DiffusionState, pairs: Tensor) -> Tensor:
    """Return which pairs are edges; a pair with a new node is none."""
    there = torch.zeros(pairs.shape[1], dtype=torch.bool)
    known = (pairs < found.num_nodes).all(0)
    there[known] = found.has_edges(pairs[:, known])
    return there


def _tell(count: int, option: str, what: str) -> None:
    if count:
        say(f"note: {count:,} edges of {option} {what}")
