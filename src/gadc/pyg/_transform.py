"""A transform: S X instead of the features, or the edges of T instead of the edges."""

from __future__ import annotations

import torch
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from gadc._base.scalars import check_choice, check_number
from gadc.diffusion import GlobalGram, Transition, diffuse, make_transition, neumann
from gadc.operators import LinearOperator


class GADCTransform(BaseTransform):  # type: ignore[misc]
    """Replace the features of a graph by S X, or its edges by the edges of T.

    With `output="edges"` the edges become the non-zero entries of T, self-loops included: edge (j, i) has
    weight T_ij, so that messages flow from j to i. The T of IV is neither normalised nor has it self-loops:
    divide the weights by their mean and let the layer do both. The other variants need neither and may have
    negative weights: give the layer `normalize=False, add_self_loops=False`. Other edge attributes belong to
    the old edges and are removed. The T of II is not sparse, so II cannot give edges.

    Args:
        variant: "plain", "I", "II" (the default), "III", "IV", "IV+", or a transition object, see
            `gadc.transition`.
        lam: Strength λ >= 0 of the smoothing, 32 by default; not used for edges.
        num_steps: Number of steps K of the series, 16 by default; not used for edges.
        eps: Radius ε >= 0 of the adversary, 1 by default.
        norm: "sym" or "rw", see `gadc.transition`; by default the one of the variant.
        self_loops: Weight of the self-loops, see `gadc.transition`; by default the one of the variant.
        directed: Take the edge list as it is instead of as undirected, which is the default.
        output: "features", the default, or "edges".
        rtol: Allowed relative error of S X, see `gadc.polynomial`; by default the series is summed directly.

    Shapes:
        `data.x` is (n, d) before and after; with `output="edges"`, `data.edge_index` becomes (2, m') and
        `data.edge_weight` (m',) for the m' non-zero entries of T.

    Examples:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from gadc.pyg import GADCTransform
        >>> data = Data(x=torch.tensor([[1.0, 0.0], [3.0, 4.0]]), edge_index=torch.tensor([[0], [1]]))
        >>> GADCTransform("plain", lam=1.0, num_steps=8)(data).x.shape
        torch.Size([2, 2])
        >>> GADCTransform("IV", output="edges")(data).edge_weight
        tensor([0.6000, 0.6000])
    """

    def __init__(
        self,
        variant: str | Transition = "II",
        *,
        lam: float = 32.0,
        num_steps: int = 16,
        eps: float = 1.0,
        norm: str | None = None,
        self_loops: float | None = None,
        directed: bool = False,
        output: str = "features",
        rtol: float | None = None,
    ) -> None:
        check_choice("GADCTransform", output, "output", ("features", "edges"))
        neumann(lam, num_steps)
        self.lam = lam
        self.num_steps = num_steps
        self.output = output
        self.rtol = None if rtol is None else check_number("GADCTransform", rtol, "rtol", strict=True)
        self.transition = make_transition(
            variant, eps=eps, norm=norm, self_loops=self_loops, directed=directed
        )
        if output == "edges" and isinstance(self.transition, GlobalGram):
            raise ValueError('GADCTransform: output="edges" needs a sparse T, got variant "II".')

    def forward(self, data: Data) -> Data:
        """Change `data`, which is PyTorch Geometric's shallow copy of the user's."""
        if not isinstance(data, Data):
            raise TypeError(
                f"GADCTransform: data must be a torch_geometric.data.Data, got {type(data).__name__}."
            )
        for name in ("x", "edge_index"):
            if data.get(name) is None:
                raise ValueError(f"GADCTransform: data must have {name}, got the attributes {data.keys()}.")
        graph = data.x, data.edge_index, data.get("edge_weight")
        if self.output == "edges":
            return _with_edges(data, self.transition(*graph))
        data.x = diffuse(
            *graph, variant=self.transition, lam=self.lam, num_steps=self.num_steps, rtol=self.rtol
        )
        return data

    def __repr__(self) -> str:
        settings = f"lam={self.lam}, num_steps={self.num_steps}, output={self.output!r}"
        return f"GADCTransform({self.transition!r}, {settings})"


def _with_edges(data: Data, operator: LinearOperator) -> Data:
    """Give `data` the edges of a sparse operator."""
    if operator.left is not None:
        raise ValueError('GADCTransform: output="edges" needs a sparse T, got one with a low-rank part.')
    for name in data.edge_attrs():
        del data[name]
    occupied = operator.values != 0
    rows, cols = operator.pattern.rows[occupied].long(), operator.pattern.cols[occupied].long()
    data.edge_index = torch.stack([cols, rows])
    data.edge_weight = operator.values[occupied]
    return data
