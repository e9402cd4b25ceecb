"""Proximal steps of the norms that make a matrix sparse and of low rank.

soft-thresholding        prox of t‖·‖₁:   sign(s) max(|s| - t, 0) of each entry
singular values likewise prox of t‖·‖_*:  U max(Σ - t, 0) Vᵀ
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

_EXTRA = 32  # directions below the threshold that are followed as well
_SHARE = 0.4  # of all directions: above it, finding them all at once is faster
_ROUNDS = 4
_FIT = 1e-5
_PROBES = 8
_MARGIN = 1.5


def soft_threshold(matrix: Tensor, threshold: float) -> Tensor:
    """Each entry, `threshold` closer to 0."""
    return matrix.sign() * (matrix.abs() - threshold).clamp(min=0)


def threshold_singular_values(matrix: Tensor, threshold: float) -> Tensor:
    """Each singular value, `threshold` closer to 0, by a full decomposition."""
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    kept = values > threshold
    thresholded: Tensor = (left[:, kept] * (values[kept] - threshold)) @ right[kept]
    return thresholded


class SymmetricThreshold:
    """`threshold_singular_values` of symmetric matrices that change little from call to call.

    Only eigenvalues beyond ±threshold matter. Once few are left, and while their number does not jump up,
    they are followed from the last call's eigenvectors by subspace iteration. What it finds is used if all
    pairs beyond the threshold fit (a residual below 1e-5 ‖matrix‖₂, about what rounding leaves in single
    precision) and random probes see nothing beyond the threshold in what is left; else the matrix is
    decomposed in full.

    Args:
        threshold: How much closer to 0.
        seed: Of the probes.
    """

    def __init__(self, threshold: float, *, seed: int = 0) -> None:
        self.threshold = threshold
        self.basis: Tensor | None = None
        self.kept = math.inf
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, matrix: Tensor) -> Tensor:
        """The prox of threshold times the nuclear norm."""
        values, vectors = self._followed(matrix) or torch.linalg.eigh(matrix)
        order = values.abs().argsort(descending=True)
        kept = int((values.abs() > self.threshold).sum())
        growing = kept > self.kept + _EXTRA // 2  # the next may well outgrow what is followed
        self.kept, self.basis = kept, None if growing else vectors[:, order[: kept + _EXTRA]]
        values, vectors = values[order[:kept]], vectors[:, order[:kept]]
        return (vectors * soft_threshold(values, self.threshold)) @ vectors.T

    def _followed(self, matrix: Tensor) -> tuple[Tensor, Tensor] | None:
        n = len(matrix)
        if self.basis is None or self.basis.shape[1] + _PROBES > _SHARE * n:
            return None
        start = torch.cat([self.basis, self._random(matrix)], 1)
        for _ in range(_ROUNDS):
            span = torch.linalg.qr(matrix @ start).Q
            image = matrix @ span
            projected = span.T @ image
            values, rotation = torch.linalg.eigh((projected + projected.T) / 2)
            start = span @ rotation
            size = values.abs()
            residual = (image @ rotation - start * values)[:, size > self.threshold].norm(dim=0)
            if bool((residual <= _FIT * size.max()).all()) and self._nothing_left(matrix, start):
                return values, start
        return None

    def _nothing_left(self, matrix: Tensor, basis: Tensor) -> bool:
        """Whether what is orthogonal to the basis has norm below the threshold, by power iteration."""
        probes = self._random(matrix)
        for _ in range(4):
            probes = torch.linalg.qr(probes - basis @ (basis.T @ probes)).Q
            probes = matrix @ probes
        rest = probes - basis @ (basis.T @ probes)
        return _MARGIN * float(torch.linalg.matrix_norm(rest, 2)) <= self.threshold

    def _random(self, matrix: Tensor) -> Tensor:
        drawn = torch.randn(len(matrix), _PROBES, generator=self.generator, dtype=matrix.dtype)
        return drawn.to(matrix.device)
