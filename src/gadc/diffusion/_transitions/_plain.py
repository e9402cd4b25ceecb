"""The plain transition of ordinary graph diffusion.

T = Â = D̃^-1/2 Ã D̃^-1/2 ("sym")    or    D̃^-1 Ã ("rw"),    Ã = A + w I
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from gadc._base.scalars import check_choice
from gadc.diffusion._checked import CheckedTransition
from gadc.diffusion._graph import NORMS, add_self_loops, adjacency, normalize
from gadc.operators import LinearOperator


@dataclass(frozen=True, kw_only=True)
class Plain(CheckedTransition):
    """The transition of ordinary graph diffusion, T = Â; all variants but IV extend it.

    Args:
        norm: "sym" for D̃^-1/2 Ã D̃^-1/2, the default, or "rw" for D̃^-1 Ã.
        self_loops: Weight w >= 0 of the self-loops in Ã = A + w I, 1 by default.
        directed: Take the edge list as it is. By default an edge (i, j) also stands for (j, i).
        listed_loops: Keep self-loops of the edge list in A. By default they are left out, as in the paper's
            text; the published figures on heterophilic graphs are met with them.
        signed: Accept negative weights, and sum their sizes |w| in the degrees, as the signed Laplacian does:
            an edge of negative weight pushes its ends apart. By default a negative weight is an error.

    Examples:
        >>> import torch
        >>> from gadc.diffusion import Plain
        >>> T = Plain(norm="rw")(torch.ones(2, 1), torch.tensor([[0], [1]]))
        >>> T.to_dense()
        tensor([[0.5000, 0.5000],
                [0.5000, 0.5000]])
    """

    norm: str = "sym"
    self_loops: float = 1.0
    directed: bool = False
    listed_loops: bool = False
    signed: bool = False

    def __post_init__(self) -> None:
        check_choice(type(self).__name__, self.norm, "norm", NORMS)
        self._check_numbers("self_loops")

    def _build(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Build T; differentiable in `edge_weight`."""
        return self._normalized(self._adjacency(x, edge_index, edge_weight))

    def _adjacency(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return A."""
        return adjacency(
            edge_index,
            edge_weight,
            x.shape[0],
            directed=self.directed,
            listed_loops=self.listed_loops,
            dtype=x.dtype,
            owner=type(self).__name__,
        )

    def _normalized(self, graph: LinearOperator) -> LinearOperator:
        """Return Â of A."""
        owner = type(self).__name__
        with_loops = add_self_loops(graph, self.self_loops, owner=owner)
        return normalize(with_loops, self.norm, signed=self.signed, owner=owner)
