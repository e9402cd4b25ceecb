"""How much each of several relations counts, chosen on validation nodes.

    T = Σ_r w_r T_r,    w on the simplex

Each choice of w is scored by ridge regression in closed form on S X of the training nodes: the share of
validation nodes that it classifies right, ties broken by the squared error of their scores. All relations
alike, each alone and all but one are tried first; then single weights are halved and doubled while it helps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc.diffusion import RelationSum, diffuse, make_transition, normalize_rows
from gadc.diffusion._transitions import add_up
from gadc.models._training.ridge import ridge_scores, ridge_targets

Weights = tuple[float, ...]
Score = tuple[float, float]  # accuracy, minus the squared error

_PENALTIES = (1e-3, 1e-1)  # of rows with median length 1
_ROUNDS = 3  # of the search over single weights
_FACTORS = (0.5, 2.0)
_TOLERANCE = 1e-6


def read_relations(owner: str, data: Data) -> tuple[Tensor | None, list[str]]:
    """Return the relation of each edge and the names; None and no names for a graph with one relation."""
    names = data.get("relation_names")
    if not names:
        return None, []
    kind = data.get("edge_type")
    rule = f"{owner}: data.edge_type must be one number below {len(names)} per edge (relation_names)"
    if not isinstance(kind, Tensor) or kind.shape != (data.edge_index.shape[1],) or kind.is_floating_point():
        raise ValueError(f"{rule}, got {getattr(kind, 'shape', None)}.")
    if len(kind) and not (int(kind.min()) >= 0 and int(kind.max()) < len(names)):
        raise ValueError(f"{rule}, got {int(kind.min())} to {int(kind.max())}.")
    return kind.long(), [str(name) for name in names]


def match_relations(owner: str, graph: Data, known: dict[str, float] | None) -> Data:
    """Number the relations of a graph as in `fit`; refuse a relation that `fit` did not see."""
    names = graph.get("relation_names") or []
    if known is None:
        if len(names) > 1:
            raise ValueError(
                f"{owner}: the model was fitted on one relation, got {', '.join(map(repr, names))}."
            )
        return graph
    if not names:
        raise ValueError(
            f"{owner}: the graph must have the relations of fit ({', '.join(map(repr, known))}), got one "
            "without relations."
        )
    new = [name for name in names if name not in known]
    if new:
        raise ValueError(
            f"{owner}: every relation must be one of fit ({', '.join(map(repr, known))}), got {new[0]!r}; "
            "leave its edges out."
        )
    place = torch.tensor([list(known).index(name) for name in names])
    graph.edge_type, graph.relation_names = place[graph.edge_type], list(known)
    return graph


def refuse_relations(owner: str, graph: Data | None, who: str) -> None:
    """Refuse a graph with several relations where they are not weighed."""
    names = [] if graph is None else graph.get("relation_names") or []
    if len(names) > 1:
        raise ValueError(
            f"{owner}: several relations can be read {who}, got {', '.join(map(repr, names))}; choose one, "
            "or read the table without relation."
        )


def weigh_relations_of(model: Any, data: Data) -> str:
    """Set the weights of the relations of the graph of a model, and say what was chosen.

    Args:
        model: A classifier with `graph_` and the settings of its diffusion.
        data: Features `x`, labels `y`, `train_mask` and `val_mask`.
    """
    graph = model.graph_
    names = [] if graph is None else graph.get("relation_names") or []
    if not names:
        model.relation_weights_ = None
        return "nothing was compared."
    settings = model._diffusion_settings()
    x = normalize_rows(data.x, settings.pop("normalize"))
    alike = (1 / len(names),) * len(names)
    lam, num_steps, rtol = (settings.pop(name) for name in ("lam", "num_steps", "rtol"))
    build = RelationSum(edge_type=graph.edge_type, weights=alike, base=make_transition(**settings))
    parts = build.parts(x, graph.edge_index, graph.edge_weight)

    def aggregate(weights: Weights) -> Tensor:
        total = add_up(parts, weights)
        with torch.no_grad():
            return diffuse(
                x,
                graph.edge_index,
                variant=lambda *_: total,
                lam=lam,
                num_steps=num_steps,
                rtol=rtol,
                check_convergence=False,
            )

    weights, score = weigh_relations(aggregate, data, len(names))
    model.relation_weights_ = dict(zip(names, weights, strict=True))
    return describe(model.relation_weights_, score)


def weigh_relations(
    aggregate: Callable[[Weights], Tensor], data: Data, num_relations: int
) -> tuple[Weights, Score | None]:
    """Choose the weights of the relations; all alike without validation nodes.

    Args:
        aggregate: Returns S X for weights of the relations.
        data: Labels `y`, `train_mask` and `val_mask`.
        num_relations: Number of relations.

    Returns:
        The weights, and their score on the validation nodes or None.
    """
    alike = (1 / num_relations,) * num_relations
    if num_relations == 1 or not bool(data.val_mask.any()):
        return alike, None
    seen: dict[Weights, Score] = {}

    def score(weights: Weights) -> Score:
        if weights not in seen:
            seen[weights] = _score(aggregate(weights), data)
        return seen[weights]

    best = max(_first(num_relations), key=score)
    for _ in range(_ROUNDS):
        found = max((best, *_moves(best)), key=score)
        if found == best:
            break
        best = found
    return best, seen[best]


def _first(count: int) -> Iterator[Weights]:
    """Yield all alike, each alone, and all but one."""
    yield (1 / count,) * count
    for one in range(count):
        yield tuple(float(r == one) for r in range(count))
        if count > 2:
            yield tuple(float(r != one) / (count - 1) for r in range(count))


def _moves(weights: Weights) -> Iterator[Weights]:
    """Yield weights with one of them changed, with the sum 1 again."""
    floor = 0.25 / len(weights)  # so that a weight of 0 can grow
    for r, weight in enumerate(weights):
        for factor in _FACTORS:
            changed = [*weights]
            changed[r] = max(weight, floor) * factor
            yield tuple(round(one / sum(changed), 9) for one in changed)


def _score(features: Tensor, data: Data) -> Score:
    """Return accuracy and minus the squared error of a ridge regression on the validation nodes."""
    lengths = features.norm(dim=1)
    unit = float(lengths.median()) or 1.0
    rows = torch.cat([features / unit, torch.ones(len(features), 1, dtype=features.dtype)], 1).double()
    if not bool(rows.isfinite().all()):
        return -1.0, float("-inf")
    classes = int(data.y.max()) + 1
    targets = ridge_targets(data.y[data.train_mask], classes, rows.dtype)
    truth = data.y[data.val_mask]
    wanted = ridge_targets(truth, classes, rows.dtype)
    found = []
    for penalty in _PENALTIES:
        scores = ridge_scores(
            rows[data.train_mask], rows[data.val_mask], targets, penalty * int(data.train_mask.sum())
        )
        accuracy = float((scores.argmax(1) == truth).double().mean())
        found.append((accuracy, -float((scores - wanted).square().mean())))
    return max(found)


def describe(weights: dict[str, float], score: Score | None) -> str:
    """Say in one sentence how much the relations count."""
    listed = ", ".join(f"{name} {weight:.3g}" for name, weight in weights.items())
    if score is None:
        return f"relations count alike, since there is nothing to choose their weights by: {listed}."
    return f"weights of the relations, chosen on the validation nodes: {listed}."


def restore_relations(settings: dict[str, Any]) -> dict[str, float] | None:
    """Return the stored weights of the relations, checked; older files have none."""
    stored = settings.get("relation_weights")
    if stored is None:
        return None
    values: list[Any] = list(stored.values()) if isinstance(stored, dict) else [None]
    good = values and all(type(one) in (int, float) and 0 <= one <= 1 for one in values)
    if not good or abs(sum(values) - 1) > _TOLERANCE:
        raise ValueError("relation_weights must be numbers >= 0 with the sum 1, one per relation.")
    return {str(name): float(weight) for name, weight in stored.items()}
