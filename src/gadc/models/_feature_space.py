"""What a model knows of the nodes before it reads an edge: their features, reduced and averaged over anchors.

    Z = K X V,    V: leading right singular vectors of X,    K = D⁻¹ (N ⊙ max(cos(X), 0) + I)

N joins each node with the k nearest to it by X. Neither V nor K depends on an edge. Words that few nodes have
tell more than words that many have, so columns of X may be weighted by their rarity before (`weigh_rare`).
"""

from __future__ import annotations

import torch
from torch import Tensor

from gadc._base.memo import remembered
from gadc.diffusion import AnchoredCosine, normalize_rows
from gadc.operators import LinearOperator


def weigh_rare(x: Tensor, power: float) -> Tensor:
    """Multiply each column of `x` by log(1 + n / n_f)^power, where n_f of n rows have an entry in column f.

    Columns without zeros all have the same weight, so dense features keep their directions.

    Args:
        x: Features, shape (n, d).
        power: Exponent p >= 0; at 0 it is `x` itself.
    """
    if power == 0:
        return x
    present = (x.detach() != 0).sum(0).clamp(min=1)
    return x * torch.log1p(len(x) / present).to(x.dtype) ** power


@torch.no_grad()
def leading_directions(x: Tensor, count: int | None) -> Tensor | None:
    """Return V, shape (d, count), by a randomised search with a fixed seed; None if there is nothing to save.

    V has no gradient: small changes of x move X V through X alone.
    """
    if count is None or count >= min(x.shape):
        return None
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        wide = min(count + 16, *x.shape)
        return torch.svd_lowrank(x.detach(), q=wide, niter=3)[2][:, :count].contiguous()


def anchor_operator(x: Tensor, neighbors: int) -> LinearOperator:
    """Return K, the mean over a node and its nearest nodes by features, weighted by cosines."""
    none = torch.zeros(2, 0, dtype=torch.long, device=x.device)
    build = AnchoredCosine(neighbors=neighbors)
    return remembered("anchor operator", (x, neighbors), lambda: build(x, none))


def feature_columns(
    x: Tensor, *, normalize: str, directions: Tensor | None, neighbors: int, num_steps: int = 1
) -> Tensor:
    """Return K^steps X V, differentiable in `x`; without anchors (`neighbors` = 0) it is X V.

    Args:
        x: Features, shape (n, d).
        normalize: Row normalisation, see `gadc.diffusion.normalize_rows`.
        directions: V, shape (d, r); None keeps all columns.
        neighbors: Number k of anchors of each node.
        num_steps: Number of steps over the anchors, 1 by default.
    """
    columns = normalize_rows(x, normalize)
    if directions is not None:
        columns = columns @ directions
    if neighbors:
        anchors = anchor_operator(x, neighbors)
        for _ in range(num_steps):
            columns = anchors @ columns
    return columns
