"""Checks of user input. Each error names the function or class, the argument, the rule and the value."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import torch
from torch import Tensor

Result = TypeVar("Result", Tensor, float)

MAX_COUNT = 2**63 - 1  # of torch and NumPy
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


def check_number(owner: str, value: float, name: str, *, low: float = 0.0, strict: bool = False) -> float:
    """Return a number, or raise an error unless it is finite and >= `low` (> `low` if strict)."""
    number = _to_float(owner, value, name)
    if not math.isfinite(number) or not (number > low if strict else number >= low):
        raise ValueError(
            f"{owner}: {name} must be finite and {'>' if strict else '>='} {low:g}, got {_shown(value)}."
        )
    return number


def check_share(owner: str, value: float, name: str, *, bounds: str = "[0, 1]") -> float:
    """Return a number between 0 and 1, or raise an error; round brackets in `bounds` exclude an end."""
    number = _to_float(owner, value, name)
    excluded = (bounds[0] == "(" and number == 0) or (bounds[-1] == ")" and number == 1)
    if not 0 <= number <= 1 or excluded:
        raise ValueError(f"{owner}: {name} must lie in {bounds}, got {_shown(value)}.")
    return number


def _to_float(owner: str, value: Any, name: str) -> float:
    """Convert a number, also of NumPy or torch; an integer beyond the range of floats becomes infinite."""
    try:
        if isinstance(value, str | bytes):
            raise TypeError
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{owner}: {name} must be a number, got {_shown(value)}.") from None


def _shown(value: object) -> str:
    """Show a value in an error; Python refuses to print integers of thousands of digits."""
    if isinstance(value, int) and abs(value) > 10**20:
        return f"an integer of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def check_fits(owner: str, value: float, name: str, dtype: torch.dtype) -> float:
    """Return a number, or raise an error if it overflows in a float type."""
    if not abs(value) <= torch.finfo(dtype).max:
        raise ValueError(f"{owner}: {name} must fit into {dtype}, got {value:.3g}.")
    return value


def check_count(owner: str, value: int, name: str, *, low: int = 0, high: int = MAX_COUNT) -> int:
    """Return an integer, or raise an error unless it is whole, >= `low` and <= `high`."""
    number = _to_float(owner, value, name)
    whole = number.is_integer() or (math.isinf(number) and isinstance(value, int))
    if isinstance(value, bool) or not whole or number < low:
        raise ValueError(f"{owner}: {name} must be a whole number >= {low}, got {_shown(value)}.")
    if value > high:
        shown = f"{int(value):,}" if number < 1e20 else _shown(value)
        raise ValueError(f"{owner}: {name} must be at most {high:,}, got {shown}.")
    return int(value)


def check_choice(owner: str, value: str, name: str, choices: tuple[str, ...]) -> str:
    """Return a name, or raise an error unless it is one of the choices."""
    if value not in choices:
        raise ValueError(f"{owner}: {name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
    return value
