"""Estimates of the eigenvalues of a matrix, from its products with vectors."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
import scipy.sparse.linalg as sla
import torch
from numpy.typing import NDArray
from torch import Tensor

# Lanczos from a random start misses an end of the spectrum by more than a share `margin` of its width with
# probability at most 1.648 √n exp(-√margin (2k - 1)) after k steps (Kuczyński and Woźniakowski, SIMAX 1992).
_MARGIN = 0.05
_MISS_PROBABILITY = 1e-6
# Up to this many rows, the matrix is formed: Krylov methods need more rows.
_DENSE_LIMIT = 16


class Matrix(Protocol):
    """The part of a square matrix that the estimates need."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def dtype(self) -> torch.dtype: ...
    @property
    def device(self) -> torch.device: ...
    def __matmul__(self, dense: Tensor) -> Tensor: ...
    def to_dense(self) -> Tensor: ...


@torch.no_grad()
def radius(matrix: Matrix, *, symmetric: bool, tol: float, seed: int) -> float:
    """Estimate the largest |eigenvalue| by ARPACK: Lanczos if symmetric, otherwise Arnoldi."""
    n = matrix.shape[0]
    if n <= _DENSE_LIMIT:
        return float(torch.linalg.eigvals(matrix.to_dense().double()).abs().max())
    start = _random_start(n, seed)
    solve: Any = sla.eigsh if symmetric else sla.eigs
    try:
        found = solve(
            _as_scipy(matrix), k=1, which="LM", tol=tol, v0=start, maxiter=1000, return_eigenvectors=False
        )
    except sla.ArpackError:  # no convergence, or a start vector in the null space
        return _growth_rate(matrix, start)
    return float(np.abs(found).max())


@torch.no_grad()
def interval(matrix: Matrix, *, seed: int, margin: float = _MARGIN) -> tuple[float, float]:
    """Return an interval that misses the spectrum of a symmetric matrix with a probability below 1e-6."""
    n = matrix.shape[0]
    if n <= _DENSE_LIMIT:
        eigenvalues = torch.linalg.eigvalsh(matrix.to_dense().double())
        return float(eigenvalues[0]), float(eigenvalues[-1])
    steps = math.ceil((math.log(1.648 * math.sqrt(n) / _MISS_PROBABILITY) / math.sqrt(margin) + 1) / 2)
    low, high = _ritz_interval(matrix, min(steps, n), seed)
    slack = margin * (high - low) / (1 - 2 * margin) + 1e-6 * max(abs(low), abs(high))
    return low - slack, high + slack


def _ritz_interval(matrix: Matrix, steps: int, seed: int) -> tuple[float, float]:
    """Return the smallest and largest Ritz value of Lanczos with full re-orthogonalisation."""
    n = matrix.shape[0]
    vector = torch.from_numpy(_random_start(n, seed)).to(matrix.device, matrix.dtype)
    basis = torch.empty((steps, n), dtype=matrix.dtype, device=matrix.device)
    diagonal: list[float] = []
    beside: list[float] = []
    norm = float(vector.norm())
    for k in range(steps):
        basis[k] = vector / norm
        vector = matrix @ basis[k]
        diagonal.append(float(vector @ basis[k]))
        for _ in range(2):  # twice is enough (Kahan and Parlett)
            vector = vector - basis[: k + 1].T @ (basis[: k + 1] @ vector)
        norm = float(vector.norm())
        if norm <= 1e-6 * max(*map(abs, diagonal), *beside, 0.0):  # the Krylov space is exhausted
            break
        beside.append(norm)
    beside = beside[: len(diagonal) - 1]
    ritz = np.linalg.eigvalsh(np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1))
    return float(ritz[0]), float(ritz[-1])


def _random_start(n: int, seed: int) -> NDArray[Any]:
    # The second number keeps the stream apart from features that a user drew with the same seed: they may be
    # eigenvectors of their own Φ, which is the one start that fails.
    return np.random.default_rng((seed, 0x6ADC)).standard_normal(n)


def _growth_rate(matrix: Matrix, start: NDArray[Any], steps: int = 200) -> float:
    """Estimate the spectral radius by ‖T^k v‖^(1/k) (Gelfand), if Arnoldi did not converge."""
    vector = torch.from_numpy(start).to(matrix.device, matrix.dtype)
    log_growth = 0.0
    for _ in range(steps):
        vector = matrix @ (vector / vector.norm())
        norm = float(vector.norm())
        if norm == 0.0:
            return 0.0
        log_growth += math.log(norm)
    return math.exp(log_growth / steps)


def _as_scipy(matrix: Matrix) -> sla.LinearOperator:
    dtype = np.float64 if matrix.dtype == torch.float64 else np.float32

    def matvec(vector: NDArray[Any]) -> NDArray[Any]:
        tensor = torch.from_numpy(np.ascontiguousarray(vector.reshape(-1), dtype=dtype))
        return (matrix @ tensor.to(matrix.device)).cpu().numpy()

    return sla.LinearOperator(matrix.shape, matvec=matvec, dtype=dtype)
