"""Every admissible perturbation of a small graph, in dense float64: what certificates are tested against.

Nothing here is clever. Sets are listed, matrices are inverted (many at once), and the lowest margin is taken.
"""

from itertools import combinations

import torch
from torch import Tensor

CHUNK = 16_384  # matrices that are inverted at once


def subsets(items, most: int) -> list[tuple]:
    """All subsets of at most `most` items."""
    return [chosen for size in range(min(most, len(items)) + 1) for chosen in combinations(items, size)]


def allowed(present: bool, mode: str) -> bool:
    return mode == "flip" or present == (mode == "remove")


def perturbed_rows(edges: Tensor, open_pairs: Tensor, mode: str, budgets: list[int]) -> list[Tensor]:
    """For each row, every 0/1 row that at most `budgets[i]` admissible flips make of it, shape (rows, n).

    Args:
        edges: 0/1 matrix of the edges, shape (n, n).
        open_pairs: Which entries may be flipped at all, shape (n, n).
        mode: "remove", "add" or "flip".
        budgets: Flips allowed in each row.
    """
    options = []
    for i, row in enumerate(edges):
        places = [j for j in range(len(edges)) if open_pairs[i, j] and allowed(bool(row[j]), mode)]
        chosen = subsets(places, budgets[i])
        changed = row.repeat(len(chosen), 1)
        for number, flips in enumerate(chosen):
            changed[number, list(flips)] = 1 - changed[number, list(flips)]
        options.append(changed)
    return options


def directed_graphs(edges, open_pairs, mode, budgets) -> Tensor:
    """Every graph of the threat in which rows are changed one by one, shape (graphs, n, n)."""
    options = perturbed_rows(edges, open_pairs, mode, budgets)
    grid = torch.cartesian_prod(*(torch.arange(len(rows)) for rows in options))
    return torch.stack([rows[grid[:, i]] for i, rows in enumerate(options)], dim=1)


def undirected_graphs(edges, open_pairs, mode, *, local=None, total=None) -> Tensor:
    """Every graph that undirected flips make, at most local[i] at node i, and at most `total` altogether."""
    n = len(edges)
    pairs = [
        (i, j) for i, j in combinations(range(n), 2) if open_pairs[i, j] and allowed(bool(edges[i, j]), mode)
    ]
    chosen = subsets(range(len(pairs)), len(pairs) if total is None else total)
    flips = torch.zeros(len(chosen), n, n, dtype=edges.dtype)
    graph = torch.tensor([number for number, places in enumerate(chosen) for _ in places], dtype=torch.long)
    ends = torch.tensor([pairs[place] for places in chosen for place in places]).reshape(-1, 2)
    flips[graph, ends[:, 0], ends[:, 1]] = 1
    flips = flips + flips.mT
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
    power = scores.expand(len(T), -1, -1)
    total = theta[0] * power
    for weight in theta[1:]:
        power = T @ power
        total = total + weight * power
    return total


def margins(scores: Tensor, predicted: Tensor) -> Tensor:
    """Margins of the predicted class, shape (..., n); scores have the shape (..., n, classes)."""
    index = predicted.unsqueeze(1).expand(*scores.shape[:-1], 1)
    own = scores.gather(-1, index).squeeze(-1)
    return own - scores.scatter(-1, index, -torch.inf).max(-1).values


def worst_margins(scores: Tensor, predicted: Tensor) -> Tensor:
    """The lowest margin of the predicted class over all graphs, shape (n,); scores (graphs, n, classes)."""
    return margins(scores, predicted).min(0).values


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


def changed_features(rows: list[Tensor]) -> tuple[Tensor, Tensor]:
    """All features that take one of several rows at each node, and how many nodes differ from the first.

    Args:
        rows: For each node its rows, the unchanged one first, shapes (options, d).

    Returns:
        Features, shape (number, n, d), and numbers of changed nodes, shape (number,).
    """
    grid = torch.cartesian_prod(*(torch.arange(len(options)) for options in rows))
    return torch.stack([options[grid[:, i]] for i, options in enumerate(rows)], dim=1), (grid > 0).sum(1)


def flipped_rows(x: Tensor, size: int) -> list[Tensor]:
    """For each node its row, and every row with at most `size` flipped entries."""
    chosen = subsets(range(x.shape[1]), size)
    flips = torch.zeros(len(chosen), x.shape[1], dtype=x.dtype)
    for number, places in enumerate(chosen):
        flips[number, list(places)] = 1
    return [row + flips * (1 - 2 * row) for row in x]
