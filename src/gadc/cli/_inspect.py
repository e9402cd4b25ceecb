"""`gadc inspect`: facts about a graph, cost of the variants on it, and a suggestion."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc._base.deferred import deferred
from gadc._base.memory import available_memory, memory_bytes
from gadc.cli._graph_data import nodes_to_fit, tell_notes
from gadc.cli._options.bundle import expand_bundles
from gadc.cli._options.graph import GraphOptions
from gadc.cli._options.output import AsJson
from gadc.cli._output import print_facts, print_json, print_rows, say
from gadc.cli._progress import working

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from gadc.operators import LinearOperator
    from gadc.packed import PackedGraph

with deferred():
    import torch

    from gadc import datasets, diffusion, models
    from gadc.packed import _diffusion as packed_diffusion
    from gadc.packed import _fit as packed_fit
    from gadc.packed import _inspect as packed_facts
    from gadc.packed import _plan as planning
    from gadc.packed import _sample as sampling


LAM, NUM_STEPS = 32.0, 16
_NUM_COLUMNS = 32  # features that are multiplied to estimate the time for all of them
_MAX_ALL_PAIRS = 20_000  # nodes up to which IV+, which compares all pairs, is measured
_SAMPLE_NODES = 20_000  # nodes of a packed graph that are measured
_BYTES_PER_ENTRY = 150  # per non-zero of Ã while the graph is built


@expand_bundles
def inspect(
    graph: GraphOptions,
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="Memory for a packed graph, such as 8GB. Default: what is available."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Describe a graph, measure every variant on it, and suggest one.

    Prints statistics of the graph, homophily, degrees, an estimate of the noise in the features, and for each
    variant its spectral radius, memory and time. Of a packed graph (--graph FOLDER) that does not fit into
    --memory, the statistics are exact, and everything else is measured on a sample.

    Example: gadc inspect --edges edges.csv --nodes nodes.csv --label kind
    """
    packed = graph.packed
    limit = available_memory() if memory is None else memory_bytes("--memory", memory)
    if packed is not None and packed_fit.fit_bytes(packed) > limit:
        return _inspect_packed(packed, graph.seed, as_json)
    with working("Reading the graph"):
        graph.refuse_relations("gadc inspect")
        data = graph.read()
    tell_notes(data)
    with working("Measuring the graph"):
        noise, connectivity = measure_noise(data, graph.seed), measure_connectivity(data, graph.seed)
        facts = {"card": datasets.graph_statistics(data), "noise": noise, "connectivity": connectivity}
    with working("Measuring the variants"):
        variants = measure_variants(data, graph.seed)
        suggested = suggest_variant(data, graph.seed)
    if as_json:
        return print_json({**facts, "variants": variants, "suggested": suggested})
    print_facts(graph.title, facts["card"])
    print_facts("Features", noise)
    print_facts("Connectivity at λ = 32, K = 16", connectivity)
    print_rows("Variants at ε = 1, seconds at K = 16", variants)
    print_facts(
        "Suggestion from these facts (`gadc fit` compares all variants on held-out labels)", suggested
    )


def _inspect_packed(graph: PackedGraph, seed: int, as_json: bool) -> None:
    """Describe a graph that does not fit into memory: counts from its files, the rest from a sample."""
    with working("Measuring the graph"):
        card = packed_facts.statistics(graph)
        sample = sampling.sample_graph(graph, max_nodes=_SAMPLE_NODES, seed=seed)
        noise, connectivity = measure_noise(sample, seed), measure_connectivity(sample, seed)
    with working("Measuring the variants"):
        variants = [
            {**row, **_forecast(graph, str(row["variant"]))}
            for row in measure_variants(sample, seed)
            if row["variant"] != "IV+"
        ]
        suggested = suggest_variant(sample, seed)
    say(
        f"note: all but the statistics is measured on a sample of {len(sample.x):,} of {graph.num_nodes:,} "
        "nodes, labelled ones and their neighbourhood; memory and seconds are forecasts for the whole graph"
    )
    facts = {"card": card, "noise": noise, "connectivity": connectivity, "sample_nodes": len(sample.x)}
    if as_json:
        return print_json({**facts, "variants": variants, "suggested": suggested})
    print_facts(str(graph.path), card)
    print_facts("Features", noise)
    print_facts("Connectivity at λ = 32, K = 16", connectivity)
    print_rows("Variants at ε = 1, seconds at K = 16 in one thread", variants)
    print_facts("Suggestion from these facts", suggested)


def _forecast(graph: PackedGraph, variant: str) -> dict[str, float]:
    """Forecast memory beside mapped files, and time, of a diffusion in slabs on disk."""
    run = packed_diffusion.make_run(graph, graph.path, variant=variant, lam=LAM, num_steps=NUM_STEPS)
    stages = planning.plan_stages(packed_diffusion.diffusion_stages(run))
    return {
        "memory_mb": packed_diffusion.peak_memory(run) / 1e6,
        "seconds": sum(stage.seconds for stage in stages),
    }


def measure_noise(data: Data, seed: int) -> dict[str, Any]:
    """Measure the noise in the features, with and without the help of the edges."""
    return {
        "noise_estimate": models.auto._facts.noise_level(data.x, seed),
        "entries_not_zero": float((data.x != 0).float().mean()),
        "edge_contrast": models.auto._facts.edge_contrast(data.x, data.edge_index, seed),
    }


def measure_connectivity(data: Data, seed: int) -> dict[str, Any]:
    """Measure how well diffusion over the graph averages noise out."""
    plain = diffusion.transition(data.x, data.edge_index, data.get("edge_weight"), variant="plain", norm="rw")
    settings: dict[str, Any] = {"lam": LAM, "num_steps": NUM_STEPS, "seed": seed}
    tau, gain = diffusion.connectivity_factor(plain, **settings), diffusion.noise_gain(plain, **settings)
    return {"tau": tau.value, "tau_error": tau.error, "noise_kept": gain.value, "exact": tau.exact}


def measure_variants(data: Data, seed: int) -> list[dict[str, Any]]:
    """Measure ρ(T), the largest λ at which the series converges (None = any), memory and time per variant."""
    n, d = data.x.shape
    rows: list[dict[str, Any]] = []
    for variant in diffusion.VARIANTS:
        if variant == "IV+" and n > _MAX_ALL_PAIRS:
            continue
        operator = diffusion.transition(data.x, data.edge_index, data.get("edge_weight"), variant=variant)
        radius = operator.spectral_radius(seed=seed)
        rows.append(
            {
                "variant": variant,
                "spectral_radius": radius,
                "converges_below_lam": 1 / (radius - 1) if radius > 1 + 1e-3 else None,
                "memory_mb": estimate_memory(variant, n, d, operator.pattern.nnz) / 1e6,
                "seconds": estimate_seconds(operator, data.x),
            }
        )
    return rows


def estimate_memory(variant: str, num_nodes: int, num_features: int, entries: int) -> int:
    """Estimate the bytes of a diffusion: a few matrices of the size of X, and the graph."""
    matrices = 4
    if variant == "II":
        matrices = 5 if num_features <= num_nodes else 9
    return 4 * num_nodes * num_features * matrices + _BYTES_PER_ENTRY * entries


def estimate_seconds(operator: LinearOperator, x: torch.Tensor) -> float:
    """Estimate the seconds of a diffusion with K = NUM_STEPS from a product with a few columns."""
    columns = x[:, :_NUM_COLUMNS].contiguous()
    operator @ columns  # the first product prepares the sparse matrix
    times = []
    for _ in range(3):  # the fastest of three, because other processes may slow one down
        start = time.perf_counter()
        with torch.no_grad():
            operator @ columns
        times.append(time.perf_counter() - start)
    return min(times) * NUM_STEPS * x.shape[1] / columns.shape[1]


def suggest_variant(data: Data, seed: int) -> dict[str, str]:
    """Suggest a variant from facts of the graph, its features and the labels of training nodes."""
    if data.y is None:
        known = torch.zeros(len(data.x), dtype=torch.bool)
    else:
        seen = nodes_to_fit(data)
        known = data.y >= 0 if seen is None else seen & (data.y >= 0)
    facts = models.auto.measure_facts(
        data.x, data.edge_index, data.get("edge_weight"), data.y, known, seed=seed
    )
    family, reason = models.auto.suggest(facts)
    return {"variant": "no graph" if family == "none" else family, "reason": reason}
