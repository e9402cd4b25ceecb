"""Forecast of the memory that the gradient of attacked scores needs on a graph with many candidate edges.

The scores belong to the user, so their memory is measured: their gradient is prepared on two small edge
lists, and the growth from one to the other is continued to the length that the attack asks for. Counted are
the tensors that are kept for the gradient and the largest single result. Real peaks are higher, so nothing is
refused that could succeed.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch_geometric.data import Data

from gadc._base.memory import available_memory, check_memory
from gadc.robustness.attacks._base import Scores

_SHORT, _LONG = 2_000, 10_000  # edges of the two measurements
_WIDEST = 4_096  # numbers per edge that no usual model exceeds; if they fit, nothing is measured


def check_scores_memory(owner: str, scores: Scores, data: Data, num_edges: int) -> None:
    """Refuse an attack on scores whose gradient does not fit into memory.

    Args:
        owner: Name of the attack.
        scores: Function `(x, edge_index, edge_weight) -> scores`.
        data: The clean graph.
        num_edges: Number of directed edges that the attack hands to the scores.

    Raises:
        MemoryLimitError: The forecast exceeds the memory that is available.
    """
    widest = max(_WIDEST, 2 * data.x.shape[1]) * data.x.element_size()
    if num_edges <= _LONG or num_edges * widest <= available_memory():
        return
    short, long = (_measure(scores, data, length) for length in (_SHORT, _LONG))
    per_edge = max(0.0, (long - short) / (_LONG - _SHORT))
    what = f"the gradient of the scores on {num_edges:,} edges and candidates"
    check_memory(owner, long + per_edge * (num_edges - _LONG), what)


def _measure(scores: Scores, data: Data, num_edges: int) -> int:
    """Count the bytes that the scores keep and make on a random graph with this number of edges."""
    generator = torch.Generator().manual_seed(0)
    half = torch.randint(int(data.num_nodes), (2, num_edges // 2), generator=generator)
    edge_index = torch.cat([half, half.flip(0)], 1)
    weight = torch.ones(edge_index.shape[1], dtype=data.x.dtype).requires_grad_()
    kept: dict[int, Tensor] = {}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor  # held, so that its address is not used again
        return tensor

    with _LargestResult() as largest, torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        scores(data.x, edge_index, weight)
    saved = sum(int(tensor.untyped_storage().nbytes()) for tensor in kept.values())
    return int(largest.size) + saved


class _LargestResult(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Note the size in bytes of the largest tensor that an operation returns."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.size: int = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        sizes = [one.numel() * one.element_size() for one in tree_leaves(out) if isinstance(one, Tensor)]
        self.size = max([self.size, *sizes])
        return out
