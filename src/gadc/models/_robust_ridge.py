"""Robust ridge: beliefs that no edge can touch, averaged over few edges.

    P = softmax(s Z),           Z = ridge regression on K² X V; one-hot labels at the training nodes
    w_ij = a_ij (p_i · p_j)^q                                                       the gate, q >= 0
    F ← (t W F + (1 - t) P) / (t d + 1 - t),    d_i = Σ_j w_ij,     K steps from F = P

K is a mean over nearest nodes by features. The beliefs P are trained without a single edge, so poisoned
edges cannot change what a node says. They change only whom it is said to, a few hops away, and a new edge has
the share t / (t d + 1) at a node of degree d. The knob t, `trust`, leads from the features alone (0) to the
edges alone (1). The model is this library's own; smoothing beliefs instead of features is from Zhou,
Bousquet, Lal, Weston and Schölkopf, "Learning with Local and Global Consistency", NIPS 2003.

With the goal "evasion" the model is a trust gate (`_trust_gate`): it remembers the nodes of its training
graph and reads the edges of new nodes as long as features agree with them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from gadc._base.memo import remembered
from gadc._base.scalars import check_choice, check_count, check_number, check_share
from gadc.diffusion._graph import adjacency
from gadc.models._beliefs import Beliefs, train_beliefs
from gadc.models._closed_form import ClosedForm, Scores
from gadc.models._trust_gate import Gated, TrustGate
from gadc.operators import LinearOperator, row_sums

# Trust t and exponent q of the gate for each goal; chosen on validation nodes under attack.
GOALS = {"balanced": (0.5, 0.0), "poisoning": (0.5, 1.0), "evasion": (1.0, 0.0)}
_STORED = ("weight", "nodes", "rows", "labels")
_LOWEST = 1e-6  # probability below which a class counts as excluded


@dataclass(frozen=True, kw_only=True)
class RobustRidge(ClosedForm):
    """Ridge regression that keeps most of its accuracy when edges are attacked.

    Args:
        goal: "balanced" (default) keeps most of the clean accuracy, "poisoning" gates edges as well,
            "evasion" takes `TrustGate`: no edge moves a node of the training graph after the training.
        trust: Trust t in [0, 1], from the features alone to the edges alone; None, the default, is 1/2. It
            has no meaning for "evasion".
        gate: Exponent q >= 0 by which edges between nodes of unlike beliefs lose weight; None, the default,
            is 0 for "balanced" and 1 for "poisoning".
        num_steps: Number of averages over edges, 2 by default: a wrong edge reaches no further.
        neighbors: Number of nearest nodes by features that anchor each node, 20 by default.
        sharpness: Factor s of the standardised scores before the softmax, 1 by default.
        penalty: Penalty of the ridge regression, relative to the mean squared norm of its rows, 1 by default;
            it has no meaning for "evasion", where validation nodes choose it.
        components: Number of leading directions of the features that are kept, 256 by default.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import RobustRidge
        >>> data = csbm(60, num_features=4, seed=0)
        >>> fitted = RobustRidge(goal="poisoning", neighbors=5).fit(data)
        >>> fitted.scores(data.x, data.edge_index).shape
        torch.Size([60, 2])
    """

    goal: str = "balanced"
    trust: float | None = None
    gate: float | None = None
    num_steps: int = 2
    neighbors: int = 20
    sharpness: float = 1.0
    penalty: float = 1.0
    components: int = 256

    def __post_init__(self) -> None:
        owner = "RobustRidge"
        check_choice(owner, self.goal, "goal", tuple(GOALS))
        if self.trust is not None:
            check_share(owner, self.trust, "trust")
        if self.gate is not None:
            check_number(owner, self.gate, "gate")
        for name in ("num_steps", "neighbors"):
            check_count(owner, getattr(self, name), name)
        check_count(owner, self.components, "components", low=1)
        for name in ("sharpness", "penalty"):
            check_number(owner, getattr(self, name), name, strict=True)

    def trained_on(
        self, data: Data, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None
    ) -> tuple[Tensor, Scores]:
        """Train the beliefs without edges, then average them; see `ClosedForm.trained_on`."""
        if self.goal == "evasion":
            return self.trust_gate().trained_on(data, x, edge_index, edge_weight)
        inputs = (x, data.y, data.train_mask, replace(self, trust=None, gate=None, goal="balanced"))
        beliefs = remembered("beliefs", inputs, lambda: self._beliefs(data, x))

        known = remembered("own beliefs", (x, beliefs), lambda: beliefs(x))
        return self.smooth(known, edge_index, edge_weight), SmoothedBeliefs(self, beliefs)

    def through_training(self, data: Data, *, seed: int = 0) -> Scores:
        """Return training and prediction as one function of the graph; see `Model.through_training`."""
        if self.goal == "evasion":
            return self.trust_gate().through_training(data, seed=seed)
        return super().through_training(data, seed=seed)

    def trust_gate(self) -> TrustGate:
        """Return the model of the goal "evasion"."""
        return TrustGate(neighbors=self.neighbors, components=self.components)

    def smooth(self, beliefs: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Average beliefs, shape (n, classes), over gated edges; returns logarithms of probabilities."""
        usual_trust, usual_gate = GOALS[self.goal]
        trust = usual_trust if self.trust is None else self.trust
        gate = usual_gate if self.gate is None else self.gate
        graph = adjacency(
            edge_index, edge_weight, len(beliefs), dtype=beliefs.dtype, owner=type(self).__name__
        )
        if gate:
            share = remembered("gate", (beliefs, graph.pattern, gate), lambda: _gate(beliefs, graph, gate))
            graph = replace(graph, values=graph.values * share)
        total = trust * row_sums(graph.pattern, graph.values).unsqueeze(1) + (1 - trust)
        alone = total == 0
        total = torch.where(alone, torch.ones_like(total), total)
        out = beliefs
        for _ in range(self.num_steps):
            out = (trust * (graph @ out) + (1 - trust) * beliefs) / total
            out = torch.where(alone, beliefs, out)
        return out.clamp(min=_LOWEST).log()

    def _beliefs(self, data: Data, x: Tensor) -> Beliefs:
        """Train the beliefs; no edge is read."""
        return train_beliefs(
            data,
            x,
            neighbors=self.neighbors,
            components=self.components,
            penalty=self.penalty,
            sharpness=self.sharpness,
        )


def _gate(beliefs: Tensor, graph: LinearOperator, gate: float) -> Tensor:
    """Return (p_i · p_j)^q of every entry of the graph."""
    rows, cols = graph.pattern.rows.long(), graph.pattern.cols.long()
    return (beliefs[rows] * beliefs[cols]).sum(1).clamp(min=_LOWEST) ** gate


class SmoothedBeliefs(nn.Module):
    """A trained robust ridge regression: beliefs, then averages over edges.

    Args:
        model: The settings.
        beliefs: The trained beliefs.
    """

    def __init__(self, model: RobustRidge, beliefs: Beliefs) -> None:
        super().__init__()
        self.model = model
        self.beliefs = beliefs

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Score the nodes of a graph."""
        beliefs = remembered("own beliefs", (x, self.beliefs), lambda: self.beliefs(x))
        return self.model.smooth(beliefs, edge_index, edge_weight)

    @classmethod
    def restored(cls, model: RobustRidge, arrays: dict[str, Tensor]) -> SmoothedBeliefs:
        """Build the module from its state.

        Args:
            model: The settings.
            arrays: What `state_dict` returned.

        Raises:
            ValueError: The arrays do not fit together.
        """
        names = {f"beliefs.{name}" for name in _STORED}
        if set(arrays) != names:
            raise ValueError(f"the arrays must be {sorted(names)}, got {sorted(arrays)}.")
        weight, nodes, rows, labels = (arrays[f"beliefs.{name}"] for name in _STORED)
        fits = weight.ndim == rows.ndim == labels.ndim == 2 and nodes.shape == (len(rows),) == (len(labels),)
        if not fits or rows.shape[1] != len(weight) or labels.shape[1] != weight.shape[1]:
            raise ValueError("the shapes of weight, nodes, rows and labels do not fit together.")
        if nodes.dtype != torch.int64 or bool((nodes < 0).any()):
            raise ValueError("nodes must hold whole numbers >= 0.")
        return cls(model, Beliefs(weight, model.neighbors, nodes, rows, labels)).eval()


def restored(goal: str, arrays: dict[str, Tensor]) -> nn.Module:
    """Build the module of a model that was trained for a goal from its state.

    Args:
        goal: A name in `GOALS`.
        arrays: What `state_dict` of the module returned.

    Raises:
        ValueError: The arrays do not fit together.
    """
    if goal == "evasion":
        return Gated.restored(RobustRidge(goal=goal).trust_gate(), arrays)
    return SmoothedBeliefs.restored(RobustRidge(goal=goal), arrays)
