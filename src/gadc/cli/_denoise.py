"""`gadc denoise`: the diffused features S X under the names of the user's columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc._base.deferred import deferred
from gadc.cli._graph_data import feature_names, id_column, standardize, tell_notes
from gadc.cli._options.bundle import expand_bundles
from gadc.cli._options.cluster import ClusterOptions
from gadc.cli._options.diffusion import DiffusionOptions
from gadc.cli._options.graph import GraphOptions, refuse_for_packed
from gadc.cli._options.output import AsJson, EscapeFormulas, TableOrFolderOut, check_table_path, refuse_pipe
from gadc.cli._output import print_facts, print_json, say, write_table
from gadc.cli._progress import iterating, working

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Data

    from gadc.packed import PackedGraph

with deferred():
    import polars as pl
    import torch

    from gadc import diffusion as gadc_diffusion
    from gadc import estimators, packed
    from gadc.packed import _denoise as packed_denoise
    from gadc.packed import _diffusion as packed_diffusion
    from gadc.packed import _plan as planning


_SMALLEST_SUM = 1e-6  # share of the largest row sum below which a sum is a rounding error


@expand_bundles
def denoise(
    graph: GraphOptions,
    diffusion: DiffusionOptions,
    out: TableOrFolderOut,
    cluster: ClusterOptions,
    exact: Annotated[
        bool,
        typer.Option("--exact", help="Compute the certified minimiser of AGSD instead of the closed form."),
    ] = False,
    paper_scale: Annotated[
        bool,
        typer.Option(
            "--paper-scale",
            help="Write S X as the paper defines it. Default: divide by the row sums of S (keeps units).",
        ),
    ] = False,
    escape_formulas: EscapeFormulas = False,
    as_json: AsJson = False,
) -> None:
    """Denoise features over a graph and write them beside the ids of the nodes.

    The features stay in the units of the table: each row of S X is divided by the sum of that row of S, so
    that a constant stays as it is, and --standardize is undone at the end. With variant II, columns of your
    tables whose means outweigh their deviations are standardised unless --no-standardize is given. The rows
    of the paper's S sum to less than one; --paper-scale writes S X itself, as `gadc.diffuse` returns it. The
    minimiser of --exact is written as it is.

    On a packed graph (--graph FOLDER) the work is done in tasks from file to file, on several processes or
    machines with --cluster; the same command resumes after an interruption.

    Example: gadc denoise --edges edges.csv --nodes nodes.csv -o features.parquet
    """
    if (packed_graph := graph.open_packed("standardize")) is not None:
        refuse_for_packed({"--exact": exact, "--escape-formulas": escape_formulas})
        return _denoise_packed(
            packed_graph, diffusion, out, cluster, bool(graph.standardize), paper_scale, as_json
        )
    cluster.check_unused()
    graph.refuse_relations("gadc denoise")
    check_table_path(out, escape_formulas=escape_formulas)
    with working("Reading the graph"):
        data = graph.read()
    if not (exact or paper_scale or diffusion.variant != "II" or graph.standardize is not None):
        data = _without_level(data)
    tell_notes(data)
    if exact and graph.directed:
        raise ValueError("--exact requires undirected edges; leave out --directed.")
    how = {"signed": graph.signed, "directed": graph.directed}
    features, found = _minimize(data, diffusion) if exact else _diffuse(data, diffusion, paper_scale, **how)
    known = estimators._graph_data.read_preparation(data)
    if known is not None and known.is_standardized:
        features, data.feature_names = known.unscale(features), known.raw_names
    write_table(_frame(data, features), out, escape_formulas=escape_formulas)
    facts = {"out": str(out), "nodes": len(features), "features": features.shape[1], **found}
    if as_json:
        return print_json(facts)
    print_facts(f"{graph.title}, denoised", facts)


def _denoise_packed(
    graph: PackedGraph,
    diffusion: DiffusionOptions,
    out: Path,
    cluster: ClusterOptions,
    standardize: bool,
    paper_scale: bool,
    as_json: bool,
) -> None:
    """Denoise the features of a packed graph in tasks."""
    refuse_pipe(out)
    settings = diffusion.settings()
    run = packed_diffusion.make_run(graph, cluster.work_folder(out), memory=cluster.task_memory(), **settings)
    if cluster.dry_run:
        stages = [packed_diffusion.scale_stage(graph, run.folder)] if standardize else []
        stages += packed_denoise.denoise_stages(run, paper_scale=paper_scale)
        return cluster.print_plan("denoise", run, stages, as_json=as_json)
    planning.check_peak_memory("denoise", run, cluster.memory_bytes)
    with cluster.running() as how:
        facts = packed.denoise(
            graph, out, paper_scale=paper_scale, standardize=standardize, **how, **settings
        )
    if outside := facts.pop("outside"):
        _tell_outside(outside)
    facts |= {"settings": settings, "paper_scale": paper_scale}
    if as_json:
        return print_json(facts)
    print_facts(f"{graph.path}, denoised", facts)


def _without_level(data: Data) -> Data:
    """Standardise columns of the user's tables if what all nodes have in common outweighs how they differ.

    Variant II repels nodes from what they have in common. The mean is then part of it, and rows of S may sum
    to almost nothing.
    """
    known = estimators._graph_data.read_preparation(data)
    if known is None or known.is_standardized:
        return data
    deviation, mean = torch.std_mean(data.x, 0, correction=0)
    if mean.norm() <= deviation.norm():
        return data
    return standardize(data, robust=True, reason="their means outweigh their deviations")


def _diffuse(
    data: Data, options: DiffusionOptions, paper_scale: bool, *, signed: bool, directed: bool
) -> tuple[Tensor, dict[str, Any]]:
    """Return S X, scaled by the row sums of S unless the paper's scale is requested, and the settings."""
    settings = options.settings()
    with working("Diffusing"):
        x = gadc_diffusion.normalize_rows(data.x, settings.pop("normalize"))
        weight = data.get("edge_weight")
        settings |= {"signed": signed, "directed": directed}
        features = gadc_diffusion.diffuse(x, data.edge_index, weight, **settings)
    if not features.isfinite().all():
        raise ValueError("denoise: the series overflows; use a smaller --lam, --num-steps or --eps.")
    if not paper_scale:
        features = _keep_units(features, _row_sums(x, data, options, signed=signed, directed=directed), x)
    return features, {"settings": options.settings(), "paper_scale": paper_scale}


def _row_sums(x: Tensor, data: Data, options: DiffusionOptions, *, signed: bool, directed: bool) -> Tensor:
    """Return S 1; of signed weights their sizes, since a mean has no negative weights."""
    weight = data.get("edge_weight")
    weight = weight.abs() if signed and weight is not None else weight
    operator = gadc_diffusion.transition(
        x, data.edge_index, weight, variant=options.variant, eps=options.eps, directed=directed
    )
    if options.num_steps is None:
        ones = torch.ones((len(x), 1), dtype=x.dtype)
        return gadc_diffusion.converged(operator, ones, options.lam, options.rtol).features.squeeze(1)
    return gadc_diffusion.row_sums(operator, lam=options.lam, num_steps=options.num_steps)


def _keep_units(features: Tensor, sums: Tensor, x: Tensor) -> Tensor:
    """Divide the rows by their sums, so that constants stay constants; rows without a positive sum stay."""
    usable = sums > _SMALLEST_SUM * sums.abs().max()
    scaled = features / torch.where(usable, sums, torch.ones_like(sums)).unsqueeze(1)
    # A mean stays in the range of the values; where weights of both signs cancel, the quotient does not.
    low, high = x.amin(0), x.amax(0)
    slack = high - low + 1e-3 * torch.maximum(low.abs(), high.abs())
    outside = ~usable | ((scaled < low - slack) | (scaled > high + slack)).any(1)
    if outside.any():
        _tell_outside(int(outside.sum()))
    return scaled


def _tell_outside(count: int) -> None:
    say(
        f"note: at {count:,} {'node' if count == 1 else 'nodes'} the weights of S cancel, and features leave "
        "the range of the table; use another --variant, such as plain, or a smaller --lam"
    )


def _minimize(data: Data, options: DiffusionOptions) -> tuple[Tensor, dict[str, Any]]:
    """Return the minimiser of AGSD, and a bound on its error."""
    if options.variant != "II":
        raise ValueError(f"--exact minimises AGSD itself, which has no variants, got {options.variant!r}.")
    with working("Minimising", shown=False), iterating("Minimising") as tell:
        solution = gadc_diffusion.minimize_agsd(
            gadc_diffusion.normalize_rows(data.x, options.normalize),
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
