"""Fit models on graphs on disk, as the commands do it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gadc._base.memory import available_memory
from gadc.cli._options.cluster import ClusterOptions, print_stages
from gadc.cli._output import say
from gadc.packed import _fit as packed_fit
from gadc.packed import _plan as planning

if TYPE_CHECKING:
    from gadc.estimators._loading import NodeModel
    from gadc.packed import PackedGraph


def fit_packed(
    graph: PackedGraph, model: NodeModel, cluster: ClusterOptions, *, standardize: bool, as_json: bool
) -> bool:
    """Fit a model on a packed graph and say the forecast; return False if only the plan was printed.

    Args:
        graph: The packed graph.
        model: The unfitted model.
        cluster: Options of the work.
        standardize: Whether features are standardised.
        as_json: Whether a plan is printed as JSON.
    """
    budget = cluster.memory_bytes or available_memory()
    if cluster.dry_run:
        folder = cluster.work_folder(graph.path.with_name(f"{graph.path.name}-fit"))
        plan, stages = packed_fit.plan_fit(graph, model, folder, budget=budget, standardize=standardize)
        say(f"forecast: {plan.summary()}")
        print_stages("fit", planning.plan_stages(stages), plan.memory, disk=plan.disk, as_json=as_json)
        return False
    with cluster.running() as how:
        packed_fit.fit(
            graph,
            model,
            standardize=standardize,
            **{**how, "memory": budget},
            forecast=lambda expected: say(f"forecast: {expected.summary()}"),
        )
    return True
