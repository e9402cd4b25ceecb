"""Proximal steps of the norms that make a matrix sparse and of low rank.

soft-thresholding        prox of t‖·‖₁:   sign(s) max(|s| - t, 0) of each entry
singular values          prox of t‖·‖_*:  U max(Σ - t, 0) Vᵀ
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

_EXTRA = 32  # directions below the threshold that are followed as well
_SHARE = 0.4  # share of all directions above which a full decomposition is faster
_ROUNDS = 4
_FIT = 1e-5
_PROBES = 8
_MARGIN = 1.5


def soft_threshold(matrix: Tensor, threshold: float) -> Tensor:
    """Move each entry towards 0 by `threshold`."""
    return matrix.sign() * (matrix.abs() - threshold).clamp(min=0)


class Triplets(NamedTuple):
    """Singular triplets, matrix = left diag(values) rightᵀ; of a symmetric matrix values may be negative."""

    left: Tensor
    values: Tensor
    right: Tensor


class SingularThreshold:
    """Move each singular value towards 0, for matrices that change little from call to call.

    Only values beyond the threshold matter. Once few are left, and while their number does not jump up, they
    are followed from the last call's vectors by subspace iteration. What it finds is used if all triplets
    beyond the threshold fit (a residual below 1e-5 ‖matrix‖₂, about what rounding leaves in single precision)
    and random probes see nothing beyond the threshold in the rest; else the matrix is decomposed in full.

    Args:
        threshold: Distance by which each singular value moves.
        seed: Seed of the random probes.
    """

    def __init__(self, threshold: float, *, seed: int = 0) -> None:
        self.threshold = threshold
        self.basis: Tensor | None = None
        self.kept = math.inf
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, matrix: Tensor) -> Tensor:
        """Return the prox of threshold times the nuclear norm."""
        left, values, right = self._followed(matrix) or self._decomposed(matrix)
        order = values.abs().argsort(descending=True)
        kept = int((values.abs() > self.threshold).sum())
        growing = kept > self.kept + _EXTRA // 2  # the next may well outgrow what is followed
        self.kept, self.basis = kept, None if growing else right[:, order[: kept + _EXTRA]]
        largest = order[:kept]
        return (left[:, largest] * soft_threshold(values[largest], self.threshold)) @ right[:, largest].T

    def _followed(self, matrix: Tensor) -> Triplets | None:
        if self.basis is None or self.basis.shape[1] + _PROBES > _SHARE * min(matrix.shape):
            return None
        start = torch.cat([self.basis, self._random(matrix)], 1)
        for _ in range(_ROUNDS):
            found, residual = self._within(matrix, _orthonormal(matrix @ start))
            size = found.values.abs()
            fits = residual[:, size > self.threshold].norm(dim=0) <= _FIT * size.max()
            if bool(fits.all()) and self._nothing_left(matrix, found):
                return found
            start = found.right
        return None

    def _decomposed(self, matrix: Tensor) -> Triplets:
        left, values, right = torch.linalg.svd(matrix, full_matrices=False)
        return Triplets(left, values, right.T)

    def _within(self, matrix: Tensor, span: Tensor) -> tuple[Triplets, Tensor]:
        """Return triplets whose left vectors lie in the span, and their residuals."""
        right, values, rotation = torch.linalg.svd(matrix.T @ span, full_matrices=False)
        left = span @ rotation.T
        return Triplets(left, values, right), matrix @ right - left * values

    def _nothing_left(self, matrix: Tensor, found: Triplets) -> bool:
        """Return whether the rest, orthogonal to the triplets, has norm below the threshold."""
        probes = self._random(matrix)
        for _ in range(2):
            probes = matrix @ _orthonormal(_without(found.right, probes))
            probes = matrix.T @ _orthonormal(_without(found.left, probes))
        rest = _without(found.right, probes)
        return _MARGIN * float(torch.linalg.matrix_norm(rest, 2)) <= self.threshold

    def _random(self, matrix: Tensor) -> Tensor:
        drawn = torch.randn(matrix.shape[1], _PROBES, generator=self.generator, dtype=matrix.dtype)
        return drawn.to(matrix.device)


class SymmetricThreshold(SingularThreshold):
    """The same for symmetric matrices, whose eigenvectors are cheaper."""

    def _decomposed(self, matrix: Tensor) -> Triplets:
        values, vectors = torch.linalg.eigh(matrix)
        return Triplets(vectors, values, vectors)

    def _within(self, matrix: Tensor, span: Tensor) -> tuple[Triplets, Tensor]:
        image = matrix @ span
        projected = span.T @ image
        values, rotation = torch.linalg.eigh((projected + projected.T) / 2)
        vectors = span @ rotation
        return Triplets(vectors, values, vectors), image @ rotation - vectors * values


def _without(basis: Tensor, vectors: Tensor) -> Tensor:
    """Return the part of the vectors that is orthogonal to the basis."""
    return vectors - basis @ (basis.T @ vectors)


def _orthonormal(vectors: Tensor) -> Tensor:
    basis: Tensor = torch.linalg.qr(vectors).Q
    return basis
