"""Trust gate: seen nodes are remembered; at new nodes edges count as long as features agree with them.

    seen nodes    s_i = student(x_i)
    new nodes     s_i = t_i g_i(A) + (1 - t_i) student(x_i),    t_i = τ d_i / (d_i + 1)
    the gate      τ = sigmoid(c (ℓ - z)),    z = (a - a₀) √n / σ
                  a = mean over the n new nodes of log(1 + r Σ_j w_ij (1 - p_i · p_j))

Here g is ridge regression on diffused features and d are degrees. The student imitates g at all seen nodes
and reads no edge (`_student`). P is the softmax of what is remembered of seen nodes and of what the student
says of new ones, so the sum is the number of edges that contradict a node; r is the share of the nodes that
the training graph had, since degrees grow with a graph. a₀ and σ are the usual mean and standard deviation of
the logarithm: parts of the training graph arrive in rehearsals, at models that are trained without them. So z
says by how many standard errors the edges of new nodes contradict the features more than usual, and beyond ℓ
the model falls back on the features.

Contradictions are counted, not their share, so that an attacker cannot hide false edges among edges that
agree. It can hide them by removing true edges that contradict, though.

No change of edges after training can move a seen node. The gate needs a training graph that can be trusted:
flips before training change a₀ as well. The model is this library's own; its student follows Zhang, Liu, Sun
and Shah, "Graph-less Neural Networks", ICLR 2022.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.utils import subgraph

from gadc._base.memo import remembered
from gadc._base.scalars import check_number
from gadc.models._closed_form import Scores
from gadc.models._fast.dense_steps import MAX_DENSE
from gadc.models._student import Imitation, Student, imitate

_REHEARSALS = 3  # trainings without some nodes
_SHARPNESS = 2.0  # of the standardised scores before a softmax
_SMALLEST = 1e-6  # spread below which all nodes count as alike
_ROUNDING = 1e-9  # relative difference of two keys of the same features


@dataclass(frozen=True, kw_only=True)
class TrustGate(Student):
    """A graph model that falls back on features where new edges contradict them.

    Args:
        limit: Number ℓ of standard errors by which the edges of new nodes may contradict the features more
            than usual, 2 by default; there the gate is half open.
        steepness: Slope c of the gate, 3 by default.
        lam: Strength λ of the smoothing of the graph model, 9 by default.
        num_steps: Number K of its diffusion steps, 10 by default.
        neighbors: Number of nearest nodes by features that a node is averaged with, 20 by default.
        penalty: Penalty of the graph model, relative to the mean squared norm of its rows; None, the default,
            chooses it on the validation nodes.
        smoothing: Weight η > 0 of the student's penalty, 0.1 by default.
        components: Number of leading directions of the features, 256 by default.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.models import TrustGate
        >>> data = csbm(60, num_features=4, seed=0)
        >>> fitted = TrustGate(neighbors=5).fit(data.subgraph(torch.arange(60) < 50))
        >>> scores = fitted.scores(data.x, data.edge_index)  # ten nodes are new
        >>> without = fitted.scores(data.x, data.edge_index[:, :0])
        >>> bool((scores[:50] == without[:50]).all()), bool((scores[50:] == without[50:]).all())
        (True, False)
    """

    reads_edges: ClassVar[bool] = True
    differentiable: ClassVar[bool] = True
    limit: float = 2.0
    steepness: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("TrustGate", self.limit, "limit")
        check_number("TrustGate", self.steepness, "steepness", strict=True)

    def trained_on(
        self, data: Data, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None
    ) -> tuple[Tensor, Scores]:
        """Train, then measure how far edges usually agree with features; see `ClosedForm.trained_on`."""
        own, gated = self._trained(data, x, edge_index, edge_weight)
        gated.usual = self._rehearsed(data, x, edge_index, edge_weight)
        return own, gated

    def through_training(self, data: Data, *, seed: int = 0) -> Scores:
        """Return training and prediction as one function of the graph: at its nodes that is the student."""
        return Student.through_training(self.student(), data, seed=seed)

    def student(self) -> Student:
        """Return the settings of the student alone."""
        return Student(**{field.name: getattr(self, field.name) for field in fields(Student)})

    def _trained(
        self, data: Data, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None
    ) -> tuple[Tensor, Gated]:
        logits, graph = self.teacher().trained_weight(data, x, edge_index, edge_weight)
        own, student = imitate(x, logits, self.smoothing, self.components)
        kept = logits if len(x) > MAX_DENSE else own
        return own, Gated(self, graph, student, Memory.of(x, kept))

    @torch.no_grad()
    def _rehearsed(self, data: Data, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> Tensor:
        """Train without some nodes, let them arrive, and return mean and spread of what contradicts them."""
        found = []
        for part in _parts(data):
            stays = torch.ones(len(x), dtype=torch.bool)
            stays[part] = False
            edges, weight = subgraph(stays, edge_index, edge_weight, relabel_nodes=True, num_nodes=len(x))
            rest = Data(y=data.y[stays], train_mask=data.train_mask[stays], val_mask=data.val_mask[stays])
            gated = self._trained(rest, x[stays], edges, weight)[1]
            found.append(gated.contradictions(x, ~stays, edge_index, edge_weight))
        if not found:
            return x.new_tensor([0.0, 1.0])
        every = torch.cat(found)
        return torch.stack([every.mean(), every.std(correction=0)])


def _parts(data: Data) -> list[Tensor]:
    """Return some parts of the nodes without a training label, each a tenth of all nodes at most."""
    others = torch.nonzero(~data.train_mask).squeeze(1)
    generator = torch.Generator().manual_seed(0)
    order = others[torch.randperm(len(others), generator=generator)]
    size = min(max(1, len(data.train_mask) // 10), max(1, len(order) // _REHEARSALS))
    return [part for part in torch.split(order, size)[:_REHEARSALS] if len(part)]


class Memory(nn.Module):
    """Scores of the nodes of the training graph, which are found again by their features.

    Args:
        keys: One number per node, made of its features, in ascending order.
        scores: Its scores, shape (n, classes), in the same order.
    """

    keys: Tensor
    scores: Tensor

    def __init__(self, keys: Tensor, scores: Tensor) -> None:
        super().__init__()
        self.register_buffer("keys", keys)
        self.register_buffer("scores", scores)

    @classmethod
    def of(cls, x: Tensor, scores: Tensor) -> Memory:
        """Remember these nodes."""
        keys, order = _keys(x).sort()
        return cls(keys, scores.detach()[order])

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return which nodes are known, and scores that are right for these nodes only."""
        keys = _keys(x)
        last = len(self.keys) - 1
        right = torch.searchsorted(self.keys, keys).clamp(max=last)
        left = (right - 1).clamp(min=0)
        nearer = (self.keys[left] - keys).abs() < (self.keys[right] - keys).abs()
        place = torch.where(nearer, left, right)
        return (self.keys[place] - keys).abs() <= _ROUNDING * (1 + keys.abs()), self.scores[place]


@torch.no_grad()
def _keys(x: Tensor) -> Tensor:
    """Return the product of each row with one fixed random vector."""
    probe = torch.randn(x.shape[1], generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return x.double() @ probe


class Gated(nn.Module):
    """A trained trust gate.

    Args:
        model: The settings.
        graph: Weight of the graph model, shape (d, classes).
        student: The student, which reads no edges.
        memory: The scores of the nodes of the training graph.

    Attributes:
        usual: Mean and standard deviation of `contradictions` over new nodes, shape (2,).
    """

    graph: Tensor
    usual: Tensor

    def __init__(self, model: TrustGate, graph: Tensor, student: nn.Module, memory: Memory) -> None:
        super().__init__()
        self.model, self.student, self.memory = model, student, memory
        self.register_buffer("graph", graph.detach())
        self.register_buffer("usual", graph.new_tensor([0.0, 1.0]))

    @classmethod
    def restored(cls, model: TrustGate, arrays: dict[str, Tensor]) -> Gated:
        """Build a trained trust gate from what its `state_dict` returned.

        Raises:
            ValueError: The arrays do not fit together.
        """
        names = {"graph", "usual", "student.weight", "student.rows", "memory.keys", "memory.scores"}
        if not names - {"student.rows"} <= set(arrays) <= names:
            raise ValueError(f"the arrays must be {sorted(names)}, got {sorted(arrays)}.")
        graph, keys, scores = (arrays[name] for name in ("graph", "memory.keys", "memory.scores"))
        weight, rows = arrays["student.weight"], arrays.get("student.rows")
        inputs = weight if rows is None else rows.T
        fits = {one.ndim for one in (graph, scores, weight, inputs)} == {2} and keys.shape == (len(scores),)
        if not fits or graph.shape[1] != scores.shape[1] or weight.shape[1] != scores.shape[1]:
            raise ValueError("the shapes of graph, memory and student do not fit together.")
        if len(inputs) != len(graph) or (rows is not None and len(rows) != len(weight)):
            raise ValueError("the shapes of graph and student do not fit together.")
        if not len(keys) or bool((keys.diff() < 0).any()) or arrays["usual"].shape != (2,):
            raise ValueError("memory.keys must ascend and usual must hold two numbers.")
        gated = cls(model, graph, Imitation(weight, rows), Memory(keys, scores))
        gated.usual = arrays["usual"]
        return gated.eval()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Score the nodes of a graph, some of which may be new."""
        known, alone = remembered("gate", (x, self), lambda: self.without_edges(x))
        if bool(known.all()):
            return alone
        edge_weight = None if edge_weight is None else edge_weight.to(x.dtype)
        trust = self.trust(x, edge_index, edge_weight)
        by_graph = self.model.teacher().diffused(x, edge_index, edge_weight, self.graph)
        weight = x.new_ones(edge_index.shape[1]) if edge_weight is None else edge_weight
        degree = x.new_zeros(len(x)).index_add(0, edge_index[0], weight)
        share = torch.where(known, 0.0, trust * degree / (degree + 1)).unsqueeze(1)
        return share * by_graph + (1 - share) * alone

    def without_edges(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return which nodes are known, and what is remembered of them or the student says of the others."""
        known, kept = self.memory(x)
        alone = self.student(x, torch.empty(2, 0, dtype=torch.long))
        # What is remembered, with the gradient of the student, which answers if the features change.
        kept = kept + (alone - alone.detach())
        return known, torch.where(known.unsqueeze(1), kept, alone)

    def contradictions(
        self,
        x: Tensor,
        new: Tensor,
        edge_index: Tensor,
        edge_weight: Tensor | None = None,
        *,
        scale: float = 1.0,
    ) -> Tensor:
        """Return log(1 + scale Σ_j w_ij (1 - p_i · p_j)) of each new node, shape (new nodes,)."""
        _, alone = remembered("gate", (x, self), lambda: self.without_edges(x))
        size = self.memory.scores.std(correction=0).clamp(min=_SMALLEST)
        beliefs = (_SHARPNESS * alone / size).softmax(1)
        touching = new[edge_index[0]]
        rows, cols = edge_index[:, touching]
        against = 1 - (beliefs[rows] * beliefs[cols]).sum(1)
        if edge_weight is not None:
            against = edge_weight[touching] * against
        return against.new_zeros(len(x)).index_add(0, rows, scale * against)[new].log1p()

    def trust(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Return the gate τ, a number in (0, 1), for the edges of the nodes that are new."""
        known, _ = remembered("gate", (x, self), lambda: self.without_edges(x))
        # Degrees grow with the graph: in training, edges to nodes that had not arrived yet were missing.
        scale = min(1.0, len(self.memory.keys) / len(x))
        found = self.contradictions(x, ~known, edge_index, edge_weight, scale=scale)
        mean, spread = self.usual.to(found.dtype)
        excess = (found.mean() - mean) * len(found) ** 0.5 / spread.clamp(min=_SMALLEST)
        return torch.sigmoid(self.model.steepness * (self.model.limit - excess))
