"""Every admissible perturbation of a small graph, in dense float64: what certificates are tested against.

Nothing here is clever. Sets are listed, matrices are inverted, and the lowest margin is taken.
"""

from itertools import combinations, product

import torch
from torch import Tensor

CHUNK = 4096  # matrices that are inverted at once


def subsets(items, most: int) -> list[tuple]:
    """All subsets of at most `most` items."""
    return [chosen for size in range(min(most, len(items)) + 1) for chosen in combinations(items, size)]


def allowed(present: bool, mode: str) -> bool:
    return mode == "flip" or present == (mode == "remove")


def perturbed_rows(edges: Tensor, open_pairs: Tensor, mode: str, budgets: list[int]) -> list[list[Tensor]]:
    """For each row, every 0/1 row that at most `budgets[i]` admissible flips make of it.

    Args:
        edges: 0/1 matrix of the edges, shape (n, n).
        open_pairs: Which entries may be flipped at all, shape (n, n).
        mode: "remove", "add" or "flip".
        budgets: Flips allowed in each row.
    """
    rows = []
    for i, row in enumerate(edges):
        places = [j for j in range(len(edges)) if open_pairs[i, j] and allowed(bool(row[j]), mode)]
        options = []
        for chosen in subsets(places, budgets[i]):
            changed = row.clone()
            changed[list(chosen)] = 1 - changed[list(chosen)]
            options.append(changed)
        rows.append(options)
    return rows


def directed_graphs(edges, open_pairs, mode, budgets) -> Tensor:
    """Every graph of the threat in which rows are changed one by one, shape (graphs, n, n)."""
    options = [torch.stack(rows) for rows in perturbed_rows(edges, open_pairs, mode, budgets)]
    grid = torch.cartesian_prod(*(torch.arange(len(rows)) for rows in options))
    return torch.stack([rows[grid[:, i]] for i, rows in enumerate(options)], dim=1)


def undirected_graphs(edges, open_pairs, mode, *, local=None, total=None) -> Tensor:
    """Every graph that undirected flips make, at most local[i] at node i, and at most `total` altogether."""
    n = len(edges)
    pairs = [
        (i, j) for i, j in combinations(range(n), 2) if open_pairs[i, j] and allowed(bool(edges[i, j]), mode)
    ]
    chosen = torch.arange(2 ** len(pairs)).unsqueeze(1) >> torch.arange(len(pairs)) & 1
    if total is not None:
        chosen = chosen[chosen.sum(1) <= total]
    flips = torch.zeros(len(chosen), n, n, dtype=edges.dtype)
    for place, (i, j) in enumerate(pairs):
        flips[:, i, j] = flips[:, j, i] = chosen[:, place].to(edges.dtype)
    if local is not None:
        flips = flips[(flips.sum(2) <= torch.tensor(local)).all(1)]
    return edges + flips * (1 - 2 * edges)


def transitions(graphs: Tensor, weights: Tensor, fixed: Tensor) -> Tensor:
    """T = D⁻¹ (A ⊙ weights + fixed) of every graph, shape (graphs, n, n)."""
    raw = graphs * weights + fixed
    degree = raw.sum(2, keepdim=True)
    return raw / torch.where(degree > 0, degree, 1.0)


def diffused(T: Tensor, scores: Tensor, *, lam: float | None, theta: list[float] | None) -> Tensor:
    """Scores after the diffusion of every graph: the converged series of λ, or Σ θ_k T^k Z."""
    if theta is None:
        ratio = lam / (lam + 1)
        eye = torch.eye(T.shape[1], dtype=T.dtype)
        return torch.cat([torch.linalg.solve(eye - ratio * part, scores) for part in T.split(CHUNK)]) / (
            lam + 1
        )
    return sum(weight * torch.linalg.matrix_power(T, k) @ scores for k, weight in enumerate(theta))


def worst_margins(scores: Tensor, predicted: Tensor) -> Tensor:
    """The lowest margin of the predicted class over all graphs, shape (n,); scores (graphs, n, classes)."""
    own = scores.gather(2, predicted.reshape(1, -1, 1).expand(len(scores), -1, 1)).squeeze(2)
    hidden = torch.zeros(scores.shape[1:], dtype=torch.bool)
    hidden[torch.arange(len(predicted)), predicted] = True
    others = scores.masked_fill(hidden, -torch.inf).max(2).values
    return (own - others).min(0).values


def label_radius(features, y, train, node: int, penalty: float, num_classes: int) -> int:
    """The largest number of wrong labels that cannot change a prediction, by trying all labellings."""
    gram = features[train] @ features[train].T + penalty * torch.eye(len(train), dtype=features.dtype)
    smoother = features[node] @ features[train].T @ torch.linalg.inv(gram)
    labellings = torch.cartesian_prod(*[torch.arange(num_classes)] * len(train))
    one_hot = torch.eye(num_classes, dtype=features.dtype)
    predicted = int((smoother @ one_hot[y[train]]).argmax())
    scores = torch.einsum("i,kic->kc", smoother, one_hot[labellings])
    rivals = torch.cat([scores[:, :predicted], scores[:, predicted + 1 :]], dim=1).max(1).values
    beaten = scores[:, predicted] - rivals <= 1e-12
    wrong = (labellings != y[train]).sum(1)
    return max(int(wrong[beaten].min()) - 1, 0) if bool(beaten.any()) else len(train)


def flipped_features(x: Tensor, num_nodes: int, size: int) -> Tensor:
    """All features in which at most `num_nodes` rows have at most `size` flipped entries."""
    n, d = x.shape
    found = []
    for rows in subsets(range(n), num_nodes):
        for entries in product(subsets(range(d), size), repeat=len(rows)):
            changed = x.clone()
            for row, places in zip(rows, entries, strict=True):
                changed[row, list(places)] = 1 - changed[row, list(places)]
            found.append(changed)
    return torch.stack(found)
