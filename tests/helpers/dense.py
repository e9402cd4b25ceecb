"""The paper in dense float64: slow, obvious, and what every fast path is tested against."""

import math

import torch
from torch import Tensor


def adjacency(edge_index: Tensor, edge_weight: Tensor | None, n: int, *, directed: bool = False) -> Tensor:
    """A: repeated edges count once (no weights) or add up; undirected edges take the mean of the listed
    directions."""
    total = torch.zeros(n, n, dtype=torch.float64)
    listed = torch.zeros(n, n, dtype=torch.float64)
    weights = None if edge_weight is None else edge_weight.tolist()
    for e, (i, j) in enumerate(edge_index.T.tolist()):
        if i == j:
            continue
        listed[i, j] = 1.0
        total[i, j] = 1.0 if weights is None else total[i, j] + weights[e]
    if directed:
        return total
    return (total + total.T) / (listed + listed.T).clamp(min=1.0)


def normalized(A: Tensor, *, norm: str = "sym", self_loops: float = 1.0) -> Tensor:
    """Â = D̃^-1/2 Ã D̃^-1/2 or D̃^-1 Ã, with D̃ the sums of |Ã|."""
    A_tilde = A + self_loops * torch.eye(len(A), dtype=A.dtype)
    # The gradient of |0| is 0, which would hide the gradients of pairs without an edge.
    degree = (A_tilde.abs() if bool((A_tilde < 0).any()) else A_tilde).sum(1)
    inverse = torch.where(degree > 0, 1 / degree, torch.zeros_like(degree))
    if norm == "rw":
        return inverse.diag() @ A_tilde
    return inverse.sqrt().diag() @ A_tilde @ inverse.sqrt().diag()


def cosines(X: Tensor) -> Tensor:
    """cos(X_i, X_j), 0 where a row is zero."""
    norms = X.norm(dim=1)
    outer = norms.outer(norms)
    return torch.where(outer > 0, X @ X.T / outer.clamp(min=1e-300), torch.zeros_like(outer))


def nearest(X: Tensor, count: int) -> Tensor:
    """1 where one node is among the `count` nearest of the other, and its cosine above 0."""
    similar = cosines(X).fill_diagonal_(-1.0)
    near = torch.zeros_like(similar)
    for i, row in enumerate(similar):
        for j in torch.argsort(row, descending=True)[:count].tolist():
            if row[j] > 0:
                near[i, j] = near[j, i] = 1.0
    return near


def transition(X: Tensor, A: Tensor, variant: str, *, eps: float = 1.0, norm: str | None = None) -> Tensor:
    """T = Â - εΦ (Eqs. 16 and 18), with the edge weights multiplying Φ."""
    norm = norm or ("rw" if variant == "IV+" else "sym")
    if variant == "IV":
        return A * cosines(X)
    if variant == "IV+":
        return normalized((A + nearest(X, 20)) * cosines(X).clamp(min=0), norm=norm)
    gram = X @ X.T
    phi = {
        "plain": torch.zeros_like(A),
        "I": A * cosines(X),
        "II": gram / gram.norm(),
        "III": A * gram / gram.norm(),
    }[variant]
    return normalized(A, norm=norm) - eps * phi


def diffusion_matrix(T: Tensor, lam: float, num_steps: int) -> Tensor:
    """S = 1/(λ+1) Σ_k (λ/(λ+1) T)^k (Eq. 15)."""
    S = torch.zeros_like(T)
    power = torch.eye(len(T), dtype=T.dtype)
    for _ in range(num_steps + 1):
        S = S + power / (lam + 1)
        power = lam / (lam + 1) * power @ T
    return S


def polynomial(T: Tensor, X: Tensor, theta: list[float]) -> Tensor:
    """Σ_k θ_k T^k X."""
    return sum(weight * torch.linalg.matrix_power(T, k) @ X for k, weight in enumerate(theta))


def agsd(F: Tensor, X: Tensor, A: Tensor, lam: float, eps: float) -> Tensor:
    """q(F) with the Laplacian written out (Eq. 12)."""
    L = torch.eye(len(A), dtype=A.dtype) - normalized(A)
    return (F - X).norm() ** 2 + lam * torch.trace(F.T @ L @ F) + lam * eps * (F @ F.T).norm()


def agsd_gradient(F: Tensor, X: Tensor, A: Tensor, lam: float, eps: float) -> Tensor:
    """∇q(F)."""
    L = torch.eye(len(A), dtype=A.dtype) - normalized(A)
    return 2 * (F - X) + 2 * lam * L @ F + 2 * lam * eps * F @ F.T @ F / (F @ F.T).norm()


def connectivity(S: Tensor, lam: float, num_steps: int) -> float:
    """τ = max_i n Σ_j S_ij² / β²."""
    beta = 1 - (lam / (lam + 1)) ** (num_steps + 1)
    return len(S) * float(S.square().sum(1).max()) / beta**2


def heat_kernel(T: Tensor, time: float) -> Tensor:
    """exp(-t (I - T))."""
    return math.exp(-time) * torch.matrix_exp(time * T)


def threshold_singular_values(matrix: Tensor, threshold: float) -> Tensor:
    """U max(Σ - t, 0) Vᵀ, the prox of t‖·‖_*."""
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    return left @ torch.diag((values - threshold).clamp(min=0)) @ right
