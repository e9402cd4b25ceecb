"""Soft-Median-GDC: a PageRank graph whose neighbourhoods are averaged by a differentiable robust mean.

Geisler, Schmidt, Şirin, Zügner, Bojchevski and Günnemann, "Robustness of Graph Neural Networks at Scale",
NeurIPS 2021.

    Π = α (I - (1-α) Â)^-1,  the k largest entries of each row, scaled to a sum of 1
    x̄_v = weighted median of the neighbours, column by column
    s_u = softmax_u(-‖x̄_v - x_u‖ / (T √d)),    d columns
    out_v = (Σ_u a_u) · Σ_u s_u a_u x_u / Σ_u s_u a_u,    a = row v of the graph

and two layers out(x W) + b with ReLU between them. The row "Soft-Median-GDC" in Table 2 of the GADC paper is
another model: its script never calls the median.

Π is a truncated series, evaluated in blocks of rows; no n × n matrix is kept. Gradients reach the edge
weights through the values of the entries that were chosen; which entries are chosen is treated as a constant,
and so is which neighbour is the median.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from gadc._base.pairs import edge_keys
from gadc._base.scalars import check_count, check_number
from gadc.diffusion import Plain, polynomial, ppr
from gadc.diffusion._graph import normalize
from gadc.models._fast.dropout import drop
from gadc.models._graph_model import GraphModel
from gadc.operators import LinearOperator, SparsePattern, sddmm

LEFT_OUT = 1e-4  # share of Π that the series may leave out
BLOCK = 256  # rows of Π at a time
TINY = 1e-12  # keeps the gradient of a distance finite at 0


@dataclass(frozen=True, kw_only=True)
class SoftMedianGDC(GraphModel):
    """Two soft-median layers over the PageRank graph.

    Args:
        alpha: Restart probability α (default 0.15).
        neighbors: Number k of entries kept per row of Π (default 64).
        temperature: Temperature T; near 0 the neighbour closest to the median wins, large values give
            the mean (default 0.5).
        dropout: Probability of dropout on the hidden units.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import SoftMedianGDC
        >>> SoftMedianGDC(neighbors=8, epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    alpha: float = 0.15
    neighbors: int = 64
    temperature: float = 0.5
    weight_decay: float = 1e-3
    epochs: int = 3000
    patience: int | None = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("SoftMedianGDC", self.neighbors, "neighbors", low=1)
        check_number("SoftMedianGDC", self.temperature, "temperature", strict=True)
        if not 0 < self.alpha <= 1:
            raise ValueError(f"SoftMedianGDC: alpha must lie in (0, 1], got {self.alpha!r}.")

    def build(self, in_features: int, num_classes: int) -> nn.Module:
        """Build both layers."""
        return _SoftMedianNetwork([in_features, self.hidden, num_classes], self)

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return the k largest entries of each row of Π, scaled to a sum of 1."""
        largest = pagerank(Plain()(x, edge_index, edge_weight), self.alpha, self.neighbors)
        return normalize(largest, "rw", owner="SoftMedianGDC")


def pagerank(graph: LinearOperator, alpha: float, neighbors: int) -> LinearOperator:
    """Return the `neighbors` largest entries of each row of α (I - (1-α) T)^-1, for a symmetric T."""
    n, theta = graph.shape[0], _terms(alpha)
    still = graph.detach()
    keys, values = [], []
    for start in range(0, n, BLOCK):
        rows = torch.arange(start, min(start + BLOCK, n), device=graph.device)
        with torch.no_grad():
            top = _rows(still, rows, theta).topk(min(neighbors, n), dim=1)
        cols, places = top.indices.sort(1)
        keys.append(edge_keys((rows.unsqueeze(1), cols), n).flatten())
        values.append(top.values.gather(1, places).flatten())
        if torch.is_grad_enabled() and graph.requires_grad:
            # The gradient computes the series of a block again instead of keeping all of them.
            again = checkpoint(_entries, graph, graph.values, rows, cols, theta, use_reentrant=False)
            values[-1] = again.flatten()
    # A series that was cut may dip below 0 where Π is nearly 0.
    return LinearOperator(SparsePattern.from_keys(torch.cat(keys), n, n), torch.cat(values).clamp(min=0))


def _entries(graph: LinearOperator, values: Tensor, rows: Tensor, cols: Tensor, theta: list[float]) -> Tensor:
    """Return some columns of some rows of Π; `values` are passed on so that checkpointing sees them."""
    return _rows(replace(graph, values=values), rows, theta).gather(1, cols)


def _rows(graph: LinearOperator, rows: Tensor, theta: list[float]) -> Tensor:
    units = torch.zeros(graph.shape[0], len(rows), dtype=graph.dtype, device=graph.device)
    units[rows, torch.arange(len(rows), device=rows.device)] = 1.0
    return polynomial(graph, units, theta, rtol=LEFT_OUT).T


def _terms(alpha: float) -> list[float]:
    """Return the coefficients of PageRank until the rest sums to less than `LEFT_OUT`."""
    steps = 0 if alpha == 1 else int(np.ceil(np.log(LEFT_OUT) / np.log(1 - alpha)))
    return ppr(alpha, steps)


def soft_median(x: Tensor, graph: LinearOperator, temperature: float = 1.0) -> Tensor:
    """Return the robust mean of each row's neighbours times the row's sum.

    Args:
        x: States, shape (n, width).
        graph: Weights >= 0, shape (n, n).
        temperature: Positive number, 1 by default; the lower, the closer the mean is to the median.

    Returns:
        The means, shape (n, width), differentiable in `x` and in the weights.

    Examples:
        >>> import torch
        >>> from gadc.diffusion import Plain
        >>> x = torch.tensor([[1.0], [1.0], [1.0]])
        >>> soft_median(x, Plain(norm="rw")(x, torch.tensor([[0, 1], [1, 2]]))).round(decimals=3)
        tensor([[1.],
                [1.],
                [1.]])
    """
    pattern = graph.pattern
    rows = pattern.rows.long()
    medians = weighted_median(x, graph)
    squares = medians.square().sum(1)[rows] + x.square().sum(1)[pattern.cols.long()]
    # Distances from inner products: no (entries × columns) array is made.
    distances = (squares - 2 * sddmm(pattern, medians, x)).clamp(min=0).add(TINY).sqrt()
    scores = distances / (-temperature * x.shape[1] ** 0.5)
    zeros = torch.zeros(graph.shape[0], dtype=x.dtype, device=x.device)
    # Subtracting the largest of a row cancels in the quotient; neighbours of weight 0 have no effect.
    valid = torch.where(graph.values > 0, scores, -torch.inf).detach()
    peak = torch.full_like(zeros, -torch.inf).scatter_reduce(0, rows, valid, "amax")
    peak = torch.where(peak.isfinite(), peak, 0.0)
    weights = graph.values * (scores - peak[rows]).clamp(max=80).exp()
    total = zeros.index_add(0, rows, weights)
    degree = zeros.index_add(0, rows, graph.values)
    share = torch.where(total > 0, degree / torch.where(total > 0, total, 1.0), 0.0)
    return replace(graph, values=weights * share[rows], symmetric=False, bounds=None) @ x


def weighted_median(x: Tensor, graph: LinearOperator) -> Tensor:
    """Return, per column, the smallest neighbour at which half of the row's weight is reached, or 0.

    Args:
        x: States, shape (n, width).
        graph: Weights >= 0, shape (n, n).

    Examples:
        >>> import torch
        >>> from gadc.diffusion import Plain
        >>> x = torch.tensor([[1.0], [2.0], [100.0]])
        >>> weighted_median(x, Plain(norm="rw")(x, torch.tensor([[0, 1], [1, 2]])))
        tensor([[1.],
                [2.],
                [2.]])
    """
    pattern = graph.pattern
    places = _median_search()(
        pattern.row_ptr.cpu().numpy(),
        pattern.cols.cpu().numpy(),
        graph.values.detach().cpu().numpy(),
        x.detach().cpu().numpy(),
    )
    chosen = torch.from_numpy(places).to(x.device)
    return torch.where(chosen >= 0, x.gather(0, chosen.clamp(min=0)), 0.0)


@lru_cache(maxsize=1)
def _median_search() -> Callable[..., NDArray[np.int64]]:
    """Return `_search`, compiled at first use: sorting in torch takes most of an epoch."""
    from numba import njit

    compiled: Callable[..., NDArray[np.int64]] = njit(_search)
    return compiled


def _search(row_ptr: Any, cols: Any, weights: Any, x: Any) -> NDArray[np.int64]:
    """Find which row of x is the weighted median, for each row of the graph and column of x; -1 for none.

    Weighted quickselect: split around a value, and continue in the part where half the weight is reached.
    """
    n, width = len(row_ptr) - 1, x.shape[1]
    places = np.full((n, width), -1, np.int64)
    for i in range(n):
        entries = np.array([e for e in range(row_ptr[i], row_ptr[i + 1]) if weights[e] > 0], np.int64)
        if len(entries) == 0:
            continue
        goal = 0.5 * weights[entries].astype(np.float64).sum()
        for j in range(width):
            low, high, below = 0, len(entries), 0.0
            while high - low > 1:
                pivot = x[cols[entries[(low + high) // 2]], j]
                less, more, here = low, high, low
                light, equal = 0.0, 0.0
                while here < more:
                    entry = entries[here]
                    value = x[cols[entry], j]
                    if value < pivot:
                        light += weights[entry]
                        entries[here], entries[less] = entries[less], entry
                        less += 1
                        here += 1
                    elif value > pivot:
                        more -= 1
                        entries[here], entries[more] = entries[more], entry
                    else:
                        equal += weights[entry]
                        here += 1
                if less > low and below + light >= goal:
                    high = less
                elif below + light + equal >= goal or more == high:
                    low, high = less, less + 1
                else:
                    below += light + equal
                    low = more
            places[i, j] = cols[entries[low]]
    return places


class SoftMedianConv(nn.Module):
    """A linear map, then the soft median of the neighbours, over any graph with weights >= 0.

    Args:
        in_features: Width of the input.
        out_features: Width of the output.
        temperature: Temperature of `soft_median`, 1 by default.

    Shapes:
        x (n, in_features), graph (n, n) -> (n, out_features).

    Examples:
        >>> import torch
        >>> from gadc.diffusion import Plain
        >>> x = torch.rand(3, 2)
        >>> SoftMedianConv(2, 4)(x, Plain(norm="rw")(x, torch.tensor([[0, 1], [1, 2]]))).shape
        torch.Size([3, 4])
    """

    def __init__(self, in_features: int, out_features: int, *, temperature: float = 1.0) -> None:
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_features))
        self.temperature = temperature
        nn.init.xavier_uniform_(self.linear.weight)

    def forward(self, x: Tensor, graph: LinearOperator) -> Tensor:
        """Return the new states."""
        return soft_median(self.linear(x), graph, self.temperature) + self.bias


class _SoftMedianNetwork(nn.Module):
    def __init__(self, widths: list[int], settings: SoftMedianGDC) -> None:
        super().__init__()
        self.first = SoftMedianConv(widths[0], widths[1], temperature=settings.temperature)
        self.second = SoftMedianConv(widths[1], widths[2], temperature=settings.temperature)
        self.dropout = settings.dropout

    def forward(self, x: Tensor, graph: LinearOperator) -> Tensor:
        hidden = drop(torch.relu(self.first(x, graph)), self.dropout, training=self.training)
        scores: Tensor = self.second(hidden, graph)
        return scores
