"""`gadc denoise`: the features S X, under the user's own names."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc.cli._bundles import spread
from gadc.cli._diffusion_options import DiffusionOptions
from gadc.cli._graph_input import GraphInput, feature_names, id_column, tell_notes
from gadc.cli._output import AsJson, TableOut, check_table_path, print_facts, print_json, working, write_table

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Data


@spread
def denoise(
    graph: GraphInput,
    diffusion: DiffusionOptions,
    out: TableOut,
    exact: Annotated[
        bool, typer.Option("--exact", help="The certified minimiser of AGSD instead of the closed form.")
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


def _diffuse(data: "Data", options: DiffusionOptions) -> tuple["Tensor", dict[str, Any]]:
    from gadc.diffusion import diffuse, normalize_rows

    settings = options.settings()
    with working("Diffusing"):
        x = normalize_rows(data.x, settings.pop("normalize"))
        features = diffuse(x, data.edge_index, data.get("edge_weight"), **settings)
    if not features.isfinite().all():
        raise ValueError(
            "denoise: the series grew beyond all numbers; take a smaller --lam, --steps or --eps."
        )
    return features, {"settings": options.settings()}


def _minimize(data: "Data", options: DiffusionOptions) -> tuple["Tensor", dict[str, Any]]:
    """The exact minimiser, with how far from the truth it can be."""
    from gadc.diffusion import minimize_agsd, normalize_rows

    if options.variant != "II":
        raise ValueError(f"--exact minimises AGSD itself, which has no variants, got {options.variant!r}.")
    with working("Minimising"):
        solution = minimize_agsd(
            normalize_rows(data.x, options.normalize),
            data.edge_index,
            data.get("edge_weight"),
            lam=options.lam,
            eps=options.eps,
        )
    names = ("objective", "gradient_norm", "error_bound", "iterations", "converged")
    certificate = {name: getattr(solution, name) for name in names}
    settings = {"lam": options.lam, "eps": options.eps, "normalize": options.normalize}
    return solution.F, {"settings": settings, "certificate": certificate}


def _frame(data: "Data", features: "Tensor") -> Any:
    import polars as pl

    names = feature_names(data)
    ids = id_column(data, taken=tuple(names))
    return ids.to_frame().hstack(pl.from_numpy(features.numpy(), schema=list(names)))
