"""A model card in Markdown: what a model file says about data, settings, held-out figures and limits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gadc._base.deferred import deferred
from gadc._base.text import visible
from gadc._version import __version__

if TYPE_CHECKING:
    from gadc.cli._graph_data import AnyModel

with deferred():
    import numpy as np

_MARKUP = re.compile(r"([\\`*_{}\[\]<>|#~$])")
_MOST_NAMES = 30
_LIMITS = (
    "The held-out figures come from nodes of the graph that the model was trained on. Another graph, or the "
    "same graph later, can be harder: measure with `gadc evaluate` on labels of your own.",
    "Labels of the training table are taken as true. `gadc check` looks for wrong ones.",
    "An attacker who adds or removes edges can lower the accuracy. `gadc audit` measures by how much.",
    "Features must be computed as in training; `gadc predict` does that from the recipe in the model file.",
)


def card_text(name: str, model: AnyModel) -> str:
    """Return the model card of a model file as Markdown.

    Args:
        name: Name of the file.
        model: The model.
    """
    parts = [
        f"# Model card: {escape_markdown(name)}",
        f"A `{type(model).__name__}` of gadc {__version__}, from the model file alone.",
        _section("Trained on", _training_facts(model)),
        _section("Settings", _settings(model)),
        f"{escape_markdown(model.explain_)}",
        _section("Held-out figures", _figures(model)),
        "## Limits\n\n" + "\n".join(f"- {limit}" for limit in _limits(model)),
    ]
    return "\n\n".join(parts) + "\n"


def escape_markdown(value: Any) -> str:
    """Return text on one line in which nothing is read as Markdown or HTML."""
    return _MARKUP.sub(r"\\\1", " ".join(visible(str(value)).split()))


def _section(title: str, facts: dict[str, Any]) -> str:
    rows = [f"| {escape_markdown(key)} | {escape_markdown(value)} |" for key, value in facts.items()]
    return "\n".join([f"## {title}", "", "| | |", "| --- | --- |", *rows])


def _training_facts(model: AnyModel) -> dict[str, Any]:
    graph, names = model.graph_, getattr(model, "feature_names_in_", None)
    facts: dict[str, Any] = {"nodes": f"{len(model.transduction_):,}"}
    facts["edges"] = "none: the model does not use a graph" if graph is None else _count_edges(graph)
    facts["features"] = f"{model.n_features_in_:,}"
    if names is not None:
        facts["columns"] = _listed(names)
    if (sizes := getattr(model, "class_sizes_", None)) is not None:
        pairs = zip(model.classes_.tolist(), sizes, strict=True)
        facts["labelled nodes"] = f"{sum(sizes):,}"
        facts["classes"] = _listed([f"{name} ({size:,})" for name, size in pairs])
    elif hasattr(model, "label_names_"):
        facts["labels"] = _listed(model.label_names_)
    return facts


def _count_edges(graph: Any) -> str:
    source, target = graph.edge_index.numpy()
    pairs = np.unique(np.stack([np.minimum(source, target), np.maximum(source, target)]), axis=1)
    return f"{pairs.shape[1]:,}"


def _settings(model: AnyModel) -> dict[str, Any]:
    params = model.get_params(deep=False)
    return {name: value for name, value in params.items() if name not in ("adjacency", "verbose")}


def _figures(model: AnyModel) -> dict[str, Any]:
    """Return what the file holds about nodes that the model did not see."""
    facts: dict[str, Any] = {}
    if hasattr(model, "validation_score_"):
        facts["accuracy"] = _percent(model.validation_score_)
        facts["log-loss"] = f"{model.log_loss_:.4g}"
    elif hasattr(model, "cv_score_"):
        facts["R² (cross-validated)"] = f"{model.cv_score_:.4g}"
    if (sizes := getattr(model, "class_sizes_", None)) is not None:
        largest = int(np.argmax(sizes))
        facts[f"share of the largest class, {model.classes_[largest]}"] = _percent(
            sizes[largest] / sum(sizes)
        )
    return facts or {"figures": "none in the file; measure with gadc evaluate"}


def _limits(model: AnyModel) -> list[str]:
    limits = list(_LIMITS)
    sizes = getattr(model, "class_sizes_", None)
    if sizes is not None and hasattr(model, "validation_score_"):
        share = max(sizes) / sum(sizes)
        if not model.validation_score_ > share:  # nan, too
            limits.insert(0, "**It is not better than always naming the largest class.**")
    return limits


def _percent(share: float) -> str:
    return "not measured" if np.isnan(share) else f"{100 * share:.1f} %"


def _listed(names: Any) -> str:
    shown = [str(name) for name in list(names)[:_MOST_NAMES]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")
