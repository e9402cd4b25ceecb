"""Student: a model that reads no edge imitates a model that does.

    scores = G (G + η I)⁻¹ Z,    G_ij = exp(-‖x_i - x_j‖² / 2)  with rows of unit length

Z are the scores of the teacher, ridge regression on diffused features, at all nodes. After Zhang, Liu, Sun
and Shah, "Graph-less Neural Networks: Teaching Old MLPs New Tricks via Distillation", ICLR 2022, with a
kernel smoother in place of an MLP: it has a closed form, so that attacks go through the training of both. G
is made of features alone. No change of edges after training can move a score: the student remembers the
graph that its teacher saw. Changes before training reach it through the teacher.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from gadc._base.memo import remembered
from gadc._base.scalars import check_number
from gadc.diffusion import normalize_rows
from gadc.models._closed_form import ClosedForm, Scores
from gadc.models._fast.dense_steps import MAX_DENSE
from gadc.models._feature_space import leading_directions
from gadc.models._ridge import Ridge
from gadc.models._training.ridge import gaussian


@dataclass(frozen=True, kw_only=True)
class Student(ClosedForm):
    """Kernel regression on features, trained on the scores of a teacher at all nodes.

    Up to 5,000 nodes the kernel is Gaussian. Beyond, it is the product of the leading directions of the
    features, which needs no matrix of all pairs but remembers less.

    Args:
        lam: Strength λ of the teacher's smoothing, 9 by default.
        num_steps: Number K of the teacher's diffusion steps, 10 by default.
        neighbors: Number of nearest nodes by features that the teacher averages a node with before the
            diffusion, 20 by default.
        penalty: Penalty of the teacher, relative to the mean squared norm of its rows; None, the default,
            chooses it on the validation nodes.
        smoothing: Weight η > 0 of the student's penalty, 0.1 by default. The smaller, the closer the student
            is to the teacher at the nodes it has seen.
        components: Number of leading directions of the features, 256 by default.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.models import Student
        >>> data = csbm(60, num_features=4, seed=0)
        >>> fitted = Student(neighbors=5).fit(data)
        >>> torch.equal(fitted.scores(data.x, data.edge_index[:, :0]), fitted.logits)  # no edge is read
        True
    """

    reads_edges: ClassVar[bool] = False
    differentiable: ClassVar[bool] = False
    lam: float = 9.0
    num_steps: int = 10
    neighbors: int = 20
    penalty: float | None = None
    smoothing: float = 0.1
    components: int = 256

    def __post_init__(self) -> None:
        self.teacher()
        check_number("Student", self.smoothing, "smoothing", strict=True)

    def trained_on(
        self, data: Data, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None
    ) -> tuple[Tensor, Scores]:
        """Train the teacher, then the student on its scores; see `ClosedForm.trained_on`."""
        taught, _ = self.teacher().trained_on(data, x, edge_index, edge_weight)
        return imitate(x, taught, self.smoothing, self.components)

    def teacher(self) -> Ridge:
        """Return the settings of the model that is imitated."""
        return Ridge(
            lam=self.lam,
            num_steps=self.num_steps,
            neighbors=self.neighbors,
            penalty=self.penalty,
            components=self.components,
        )


def imitate(x: Tensor, taught: Tensor, smoothing: float, components: int) -> tuple[Tensor, Imitation]:
    """Train a kernel smoother on features to repeat scores.

    Args:
        x: Features of all nodes, shape (n, d).
        taught: Scores to repeat, shape (n, classes); the result is linear in them.
        smoothing: Weight η of the penalty.
        components: Number of leading directions of the features where there are too many nodes for a
            Gaussian kernel.

    Returns:
        The student's scores of these nodes, and the student as a function that ignores the edges.
    """
    rows = normalize_rows(x, "l2")
    if len(x) > MAX_DENSE:
        weight = _linear_weight(rows, taught, smoothing, components)
        return rows @ weight, Imitation(weight, None)
    exact = rows.double()  # a kernel is too close to singular for single precision
    inverse = remembered("student", (x, smoothing), lambda: _inverse(exact, smoothing))
    weight = inverse @ taught.double()
    own = taught.double() - smoothing * weight  # G (G + η I)⁻¹ Z = Z - η (G + η I)⁻¹ Z
    return own.to(taught.dtype), Imitation(weight, exact)


class Imitation(nn.Module):
    """Scores of a student: a kernel with the rows that it remembers, or products; edges are ignored.

    Args:
        weight: Shape (remembered rows, classes), or (d, classes) without a kernel.
        rows: The remembered rows, of unit length, shape (n, d); None without a kernel.
    """

    weight: Tensor
    rows: Tensor | None

    def __init__(self, weight: Tensor, rows: Tensor | None) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("rows", rows)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Score nodes by their features, shape (n, d)."""
        unit = normalize_rows(x, "l2")
        if self.rows is None:
            return unit @ self.weight
        return (gaussian(unit.double(), self.rows) @ self.weight).to(x.dtype)


def _inverse(rows: Tensor, smoothing: float) -> Tensor:
    eye = torch.eye(len(rows), dtype=rows.dtype)
    inverse: Tensor = torch.cholesky_inverse(torch.linalg.cholesky(gaussian(rows, rows) + smoothing * eye))
    return inverse


def _linear_weight(rows: Tensor, taught: Tensor, smoothing: float, components: int) -> Tensor:
    """Imitate with the kernel G = Z Zᵀ, Z = X V, by a solve of the size of V."""
    directions = leading_directions(rows, components)
    directions = torch.eye(rows.shape[1], dtype=rows.dtype) if directions is None else directions
    columns = rows @ directions
    gram = columns.T @ columns + smoothing * torch.eye(columns.shape[1], dtype=rows.dtype)
    weight: Tensor = directions @ torch.linalg.solve(gram, columns.T @ taught)
    return weight
