"""`gadc denoise`: the diffused features S X under the names of the user's columns."""

from typing import Annotated, Any

import polars as pl
import typer
from torch import Tensor
from torch_geometric.data import Data

from gadc.cli._graph_data import feature_names, id_column, tell_notes
from gadc.cli._options.bundle import expand_bundles
from gadc.cli._options.diffusion import DiffusionOptions
from gadc.cli._options.graph import GraphOptions
from gadc.cli._options.output import AsJson, TableOut, check_table_path
from gadc.cli._output import print_facts, print_json, write_table
from gadc.cli._progress import iterating, working
from gadc.diffusion import diffuse, minimize_agsd, normalize_rows


@expand_bundles
def denoise(
    graph: GraphOptions,
    diffusion: DiffusionOptions,
    out: TableOut,
    exact: Annotated[
        bool,
        typer.Option("--exact", help="Compute the certified minimiser of AGSD instead of the closed form."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Denoise features over a graph and write them beside the ids of the nodes.

    Example: gadc denoise --edges edges.csv --nodes nodes.csv -o features.parquet
    """
    check_table_path(out)
    with working("Reading the graph"):
        data = graph.read()
    tell_notes(data)
    features, found = _minimize(data, diffusion) if exact else _diffuse(data, diffusion)
    write_table(_frame(data, features), out)
    facts = {"out": str(out), "nodes": len(features), "features": features.shape[1], **found}
    if as_json:
        return print_json(facts)
    print_facts(f"{graph.title}, denoised", facts)


def _diffuse(data: Data, options: DiffusionOptions) -> tuple[Tensor, dict[str, Any]]:
    """Return S X and the settings of S."""
    settings = options.settings()
    with working("Diffusing"):
        x = normalize_rows(data.x, settings.pop("normalize"))
        features = diffuse(x, data.edge_index, data.get("edge_weight"), **settings)
    if not features.isfinite().all():
        raise ValueError("denoise: the series overflows; use a smaller --lam, --num-steps or --eps.")
    return features, {"settings": options.settings()}


def _minimize(data: Data, options: DiffusionOptions) -> tuple[Tensor, dict[str, Any]]:
    """Return the minimiser of AGSD, and a bound on its error."""
    if options.variant != "II":
        raise ValueError(f"--exact minimises AGSD itself, which has no variants, got {options.variant!r}.")
    with working("Minimising", shown=False), iterating("Minimising") as tell:
        solution = minimize_agsd(
            normalize_rows(data.x, options.normalize),
            data.edge_index,
            data.get("edge_weight"),
            lam=options.lam,
            eps=options.eps,
            progress=lambda _, gradient: tell(f"gradient {gradient:.2g} × tolerance"),
        )
    names = ("objective", "gradient_norm", "error_bound", "iterations", "converged")
    certificate = {name: getattr(solution, name) for name in names}
    settings = {"lam": options.lam, "eps": options.eps, "normalize": options.normalize}
    return solution.F, {"settings": settings, "certificate": certificate}


def _frame(data: Data, features: Tensor) -> pl.DataFrame:
    names = feature_names(data)
    ids = id_column(data, taken=tuple(names))
    return ids.to_frame().hstack(pl.from_numpy(features.numpy(), schema=list(names)))
