"""Checks of tensors that users give. Each error names owner, argument, rule and value."""

from __future__ import annotations

import math
from typing import TypeVar

import torch
from torch import Tensor

Result = TypeVar("Result", Tensor, float)

_FLOATS = (torch.float32, torch.float64)
_HALF_FLOATS = (torch.float16, torch.bfloat16)


def check_features(owner: str, x: Tensor, name: str = "x") -> Tensor:
    """Return features as a dense float32 or float64 matrix, or raise an error.

    Integers and booleans become floats of the default type, float16 and bfloat16 become float32, and sparse
    matrices become dense.

    Args:
        owner: Function or class that the error names.
        x: Features; at least one row and one column, all finite.
        name: Name of the argument. By default "x".
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"{owner}: {name} must be a torch.Tensor, got {type(x).__name__}.")
    if x.ndim != 2 or 0 in x.shape:
        raise ValueError(
            f"{owner}: {name} must be a matrix (nodes, features) with at least one of each, "
            f"got shape {tuple(x.shape)}."
        )
    if x.layout != torch.strided:
        x = x.to_dense()
    if x.dtype == torch.bool or not (x.is_floating_point() or x.is_complex()):
        x = x.to(torch.get_default_dtype())
    if x.dtype in _HALF_FLOATS:
        x = x.float()  # exact, and products of half floats would overflow
    if x.dtype not in _FLOATS:
        raise TypeError(f"{owner}: {name} must be float32, float64 or integer, got {x.dtype}.")
    check_finite(owner, x, name)
    return x


def check_sparse_features(owner: str, x: Tensor, name: str = "x") -> Tensor:
    """Return sparse features as a CSR matrix of float32, or raise an error; they never become dense.

    Args:
        owner: Function or class that the error names.
        x: Sparse features in any layout; at least one row and one column, all finite.
        name: Name of the argument. By default "x".
    """
    if not isinstance(x, Tensor) or x.layout == torch.strided:
        got = "a dense tensor" if isinstance(x, Tensor) else type(x).__name__
        raise TypeError(f"{owner}: {name} must be a sparse torch.Tensor, got {got}.")
    if x.ndim != 2 or 0 in x.shape or x.dense_dim():
        raise ValueError(
            f"{owner}: {name} must be a sparse matrix (nodes, features) with at least one of each, "
            f"got shape {tuple(x.shape)}."
        )
    if x.is_complex():
        raise TypeError(f"{owner}: {name} must be float32, float64 or integer, got {x.dtype}.")
    x = x.detach() if x.requires_grad else x
    if x.layout != torch.sparse_csr:
        x = x.to_sparse_csr()
    rows, columns, values = x.crow_indices(), x.col_indices(), x.values()
    check_finite(owner, values, f"{name}.values()")
    try:
        checked = torch.sparse_csr_tensor(
            rows.long(), columns.long(), values.float(), x.shape, check_invariants=True
        )
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"{owner}: {name} must be a valid CSR matrix, got one where {reason}") from error
    check_finite(owner, checked.values(), f"{name}.values() in float32")
    return x if (x.dtype, columns.dtype) == (torch.float32, torch.int64) else checked


def check_finite(owner: str, values: Tensor, name: str) -> None:
    """Raise an error that counts the NaN and infinite values and names the place of the first."""
    fault = _non_finite(values)
    if fault:
        raise ValueError(f"{owner}: {name} must be finite, got {fault}.")


def check_finite_result(owner: str, result: Result, name: str, advice: str, **inputs: Tensor) -> Result:
    """Return a result, or raise an error if it holds NaN or infinite values.

    Public functions call it once, on what they return. Their input has been checked before, so a value that
    is not finite comes from an overflow.

    Args:
        owner: Name of the public function.
        result: A tensor of any shape, or a number.
        name: Name of the result, such as "F = S X".
        advice: What the user can change, as the end of a sentence.
        **inputs: Input that was not checked before, by name. If it is not finite itself, the error names it.
    """
    if isinstance(result, Tensor):
        fault = _non_finite(result)
    else:
        fault = None if math.isfinite(result) else f"{result!r}"
    if fault:
        for argument, values in inputs.items():
            check_finite(owner, values, argument)
        raise ValueError(f"{owner}: {name} must be finite, got {fault}; {advice}.")
    return result


def _non_finite(values: Tensor) -> str | None:
    """Count NaN and infinite values and name the place of the first; None if there are none."""
    if not values.is_floating_point() or torch.isfinite(values.detach().sum()):
        return None  # one quick pass; a sum that overflows proves nothing
    wrong = ~torch.isfinite(values)
    if not wrong.any():
        return None
    where = tuple(torch.nonzero(wrong)[0].tolist())
    return f"{int(wrong.sum())} NaN or infinite values, the first at {where}"


def check_edge_index(owner: str, edge_index: Tensor, num_nodes: int) -> Tensor:
    """Return edges (2, edges) as int64, or raise an error unless they are node numbers below `num_nodes`."""
    if not isinstance(edge_index, Tensor):
        raise TypeError(f"{owner}: edge_index must be a torch.Tensor, got {type(edge_index).__name__}.")
    if edge_index.is_floating_point() or edge_index.is_complex() or edge_index.dtype == torch.bool:
        raise TypeError(f"{owner}: edge_index must hold integers, got {edge_index.dtype}.")
    if edge_index.ndim != 2 or edge_index.shape[0] != 2:
        raise ValueError(f"{owner}: edge_index must have shape (2, edges), got {tuple(edge_index.shape)}.")
    if edge_index.numel():
        low, high = int(edge_index.min()), int(edge_index.max())
        if low < 0 or high >= num_nodes:
            raise ValueError(
                f"{owner}: edge_index must hold node numbers from 0 to {num_nodes - 1}, got {low} to {high}."
            )
    return edge_index.long()


def check_edge_weight(owner: str, edge_weight: Tensor, num_edges: int, dtype: torch.dtype) -> Tensor:
    """Return edge weights in the given type, or raise an error unless they are finite, one per edge."""
    if not isinstance(edge_weight, Tensor):
        raise TypeError(f"{owner}: edge_weight must be a torch.Tensor, got {type(edge_weight).__name__}.")
    if edge_weight.shape != (num_edges,):
        raise ValueError(
            f"{owner}: edge_weight must have shape ({num_edges},), one weight per edge, "
            f"got {tuple(edge_weight.shape)}."
        )
    if edge_weight.is_complex():
        raise TypeError(f"{owner}: edge_weight must be real, got {edge_weight.dtype}.")
    check_finite(owner, edge_weight, "edge_weight")
    converted = edge_weight.to(dtype)
    if edge_weight.dtype != dtype and _non_finite(converted):
        largest = float(edge_weight.detach().abs().max())
        raise ValueError(
            f"{owner}: edge_weight must fit into {dtype}, the type of x, got values up to {largest:.3g}; "
            "scale the weights, or pass x in float64."
        )
    return converted


def check_fits(owner: str, value: float, name: str, dtype: torch.dtype) -> float:
    """Return a number, or raise an error if it overflows in a float type."""
    if not abs(value) <= torch.finfo(dtype).max:
        raise ValueError(f"{owner}: {name} must fit into {dtype}, got {value:.3g}.")
    return value
