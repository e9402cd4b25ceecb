"""The features that candidates read: columns in one unit, and few columns where X is wide.

Three forms of X need three treatments:

    dense columns in different units      each column is centred, divided by its deviation and cut off at ±10
    mostly zeros, none negative (words)   each row is divided by its length
    more than `width` columns             X B, where the columns of B span the leading directions of X and of
                                          Â² X. The second half matters for noisy features: smoothing over
                                          the graph lifts the signal above the noise.

Diffusion is linear, so S (X B) = (S X) B: reducing first loses nothing but what lies outside of B.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from gadc.models._fast.sparse_features import SPARSE_SHARE, SparseFeatures
from gadc.operators import LinearOperator, SparsePattern, spmm

Features = Tensor | SparseFeatures

_UNITS = 10.0  # ratio of two columns' deviations from which on they are in different units
_CUT = 10.0  # standard deviations
_PASSES = 2  # of the power iteration; directions of nearly equal strength may be mixed, which does no harm


class FeatureMap(nn.Module):
    """The map from X to the features that candidates read.

    Args:
        num_features: Number of columns of X.
        width: Number of columns of the result; equal to `num_features` if there is no basis.
        standardize: Whether columns are centred and scaled.
        unit_rows: Whether rows are divided by their length.
    """

    shift: Tensor
    scale: Tensor
    basis: Tensor

    def __init__(self, num_features: int, width: int, *, standardize: bool, unit_rows: bool) -> None:
        super().__init__()
        self.num_features, self.width = num_features, width
        self.standardize, self.unit_rows = standardize, unit_rows
        columns = num_features if standardize else 0
        self.register_buffer("shift", torch.zeros(columns))
        self.register_buffer("scale", torch.ones(columns))
        self.register_buffer("basis", torch.zeros(num_features if width < num_features else 0, width))

    @classmethod
    @torch.no_grad()
    def fitted(cls, x: Features, plain: LinearOperator | None, width: int, *, seed: int) -> FeatureMap:
        """Choose the treatment of X.

        Args:
            x: Features X.
            plain: Â of the graph, or None without a graph.
            width: Largest number of columns of the result.
            seed: Seed of the power iteration.
        """
        wide = len_columns(x) > width
        words = isinstance(x, SparseFeatures) and not bool((x.values < 0).any())
        found = cls(
            len_columns(x),
            width if wide else len_columns(x),
            standardize=isinstance(x, Tensor) and _units_differ(x),
            unit_rows=words,
        )
        if found.standardize and isinstance(x, Tensor):
            found.shift.copy_(x.mean(0))
            found.scale.copy_(_deviations(x))
        if wide:
            found.basis.copy_(_leading(found.prepared(x), plain, width, seed))
        return found

    def prepared(self, x: Features) -> Features:
        """Return X with columns in one unit or rows of length 1, in as many columns as it has."""
        if isinstance(x, SparseFeatures):
            return _unit_rows(x) if self.unit_rows else x
        if self.standardize:
            return ((x - self.shift) / self.scale).clamp(-_CUT, _CUT)
        if self.unit_rows:
            norms = torch.linalg.vector_norm(x, dim=1, keepdim=True)
            return x / torch.where(norms > 0, norms, 1.0)
        return x

    def forward(self, x: Features) -> Tensor:
        """Return the dense features of few columns, shape (n, width)."""
        rows = self.prepared(x)
        if len(self.basis):
            return rows @ self.basis
        return to_dense(rows) if isinstance(rows, SparseFeatures) else rows


def read_sparse(x: Tensor) -> Features:
    """Return X in single precision, as sparse features if most entries are zero and no gradient is needed."""
    if x.layout != torch.strided:
        csr = x.to_sparse_csr() if x.layout != torch.sparse_csr else x
        counts = csr.crow_indices().diff()
        rows = torch.repeat_interleave(torch.arange(len(counts)), counts)
        pattern = SparsePattern.from_entries(rows, csr.col_indices(), *csr.shape)
        return SparseFeatures(pattern, csr.values().float())
    x = x.float()
    if x.requires_grad or x.shape[1] < 64 or int(torch.count_nonzero(x)) > SPARSE_SHARE * x.numel():
        return x
    return SparseFeatures.of(x)


def is_identity(x: Features) -> bool:
    """Whether each node has a feature of its own, which says nothing about it: the graph is all there is."""
    if not isinstance(x, SparseFeatures):
        return False
    rows, cols = x.pattern.rows, x.pattern.cols
    return x.pattern.num_cols == len(x) == len(rows) and bool((rows.long() == cols.long()).all())


def identity(num_nodes: int) -> SparseFeatures:
    """Return features for a graph without features: one per node."""
    nodes = torch.arange(num_nodes)
    return SparseFeatures(
        SparsePattern.from_entries(nodes, nodes, num_nodes, num_nodes), torch.ones(num_nodes)
    )


def to_dense(x: SparseFeatures) -> Tensor:
    """Return sparse features as a dense matrix."""
    out = torch.zeros((x.pattern.num_rows, x.pattern.num_cols), dtype=x.values.dtype)
    out[x.pattern.rows.long(), x.pattern.cols.long()] = x.values
    return out


def len_columns(x: Features) -> int:
    """Return the number of columns."""
    return x.pattern.num_cols if isinstance(x, SparseFeatures) else x.shape[1]


def _units_differ(x: Tensor) -> bool:
    deviations = x.std(0) if len(x) > 1 else torch.ones(x.shape[1])
    deviations = deviations[deviations > 0]
    mean = x.mean(0).abs().max() if x.numel() else torch.zeros(())
    if not len(deviations):
        return False
    spread = float(deviations.max()) > _UNITS * float(deviations.min())
    far = float(mean) > _UNITS * float(deviations.median())
    return x.shape[1] <= 256 and (spread or far)


def _deviations(x: Tensor) -> Tensor:
    deviations = x.std(0) if len(x) > 1 else torch.ones(x.shape[1])
    return torch.where(deviations > 0, deviations, 1.0)


def _unit_rows(x: SparseFeatures) -> SparseFeatures:
    rows = x.pattern.rows.long()
    squares = torch.zeros(len(x), dtype=x.values.dtype).index_add_(0, rows, x.values.square())
    return SparseFeatures(x.pattern, x.values / squares.clamp(min=1e-30).sqrt()[rows])


def _leading(x: Features, plain: LinearOperator | None, width: int, seed: int) -> Tensor:
    """Return an orthonormal basis of the leading right singular directions of X and of Â² X."""
    forward, backward = _products(x)
    half = width if plain is None else 0 if is_identity(x) else width // 2
    own = _power(lambda v: backward(forward(v)), len_columns(x), half, seed)
    if plain is None:
        return own

    def smoothed(v: Tensor) -> Tensor:
        out = forward(v)
        for _ in range(4):  # Â² for X, and once more for its transpose
            out = plain @ out
        return backward(out)

    other = _power(smoothed, len_columns(x), width - half, seed)
    basis: Tensor = torch.linalg.qr(torch.cat([own, other], 1)).Q
    return basis


def _power(square: Callable[[Tensor], Tensor], size: int, rank: int, seed: int) -> Tensor:
    """Return the leading eigenvectors of a symmetric positive map by subspace iteration."""
    start = torch.randn(size, rank, generator=torch.Generator().manual_seed(seed))
    found: Tensor = torch.linalg.qr(start).Q
    for _ in range(_PASSES):
        found = torch.linalg.qr(square(found)).Q
    return found


def _products(x: Features) -> tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]:
    """Return the maps V -> X V and U -> Xᵀ U."""
    if isinstance(x, Tensor):
        return (lambda v: x @ v), (lambda u: x.T @ u)
    across, order = x.pattern.transposed
    values = x.values[order]
    return (lambda v: x @ v), (lambda u: spmm(across, values, u))
