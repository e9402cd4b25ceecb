"""Edges, evasion, global budget: how many nodes one perturbed graph can fool at the same time.

The attacker flips at most B undirected edges in the whole graph. An edge touches two rows of the transition,
so the flips ρ_j in the rows sum to at most 2B, and no row has more than B of them. Let r_t be the largest
number of flips per row that node t survives (`_edges`).

    K <= 1          t depends on its own row alone, and fails only if ρ_t > r_t. The nodes with the least r_t
                    + 1 are taken until 2B is used up: sorting.
    removals        t fails only if a row within K - 1 hops has more than r_t flips. With x_t = 1 for a failed
                    node, a linear program bounds the number of failures:
                    maximise Σ x_t  with  (r_t + 1) x_t <= Σ_{j within K-1 hops} ρ_j,   Σ ρ_j <= 2B,
                    0 <= x <= 1,  0 <= ρ_j <= min(B, edges of j).
    otherwise       every row may come within reach by an added edge, so t fails only if r_t < B.

After Schuchardt et al., "Collective Robustness Certificates", ICLR 2021. Sound for undirected flips.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog
from torch import Tensor

from gadc._base.scalars import check_choice
from gadc.robustness.attacks._base import MODES
from gadc.robustness.certificates._certificate import Certificate, check_budgets, radii_from_margins
from gadc.robustness.certificates._diffusion import LinearDiffusion, as_tensor
from gadc.robustness.certificates._edges import CHANGES, worst_margins
from gadc.robustness.certificates._nodes import Tested
from gadc.robustness.certificates._pieces import describing
from gadc.robustness.certificates._rows import Ints, Rows

_ROUNDING = 1e-6  # a linear program that reaches 2.9999999 allows three failures


def certify_collective(
    diffusion: LinearDiffusion,
    y: Tensor,
    nodes: Tensor,
    *,
    mode: str = "remove",
    budgets: Sequence[float] = (1, 5, 10),
    progress: Callable[[str], None] | None = None,
) -> Certificate:
    """Bound the number of nodes that the same few flips can fool.

    Args:
        diffusion: The model, from `linear_diffusion` or made by hand. The linear program is meant for few
            steps: its size is the number of pairs of nodes within K - 1 hops.
        y: Labels, shape (n,).
        nodes: Numbers of the nodes to certify.
        mode: "remove" (default), "add" or "flip".
        budgets: Numbers B of undirected flips in the whole graph; 1, 5 and 10 by default.
        progress: Function that is called with a description of each step when it begins.

    Returns:
        A sound bound that counts nodes (`certified_accuracy`) and does not name them.

    Examples:
        >>> import numpy as np, torch
        >>> from scipy import sparse
        >>> from gadc.robustness.certificates import LinearDiffusion, certify_collective
        >>> ring = np.roll(np.eye(6), 1, 0) + np.roll(np.eye(6), -1, 0)
        >>> scores = np.array([[0.0, 1.0], [2.5, 0.0]] * 3)  # every other node is overruled by its neighbours
        >>> ring, loops = sparse.csr_array(ring), sparse.csr_array(np.eye(6))
        >>> diffusion = LinearDiffusion(scores=scores, edges=ring, fixed=loops, theta=(0.0, 1.0))
        >>> y, nodes = torch.zeros(6).long(), torch.arange(6)
        >>> certificate = certify_collective(diffusion, y, nodes, budgets=[1, 2])
        >>> [round(certificate.certified_accuracy(budget)) for budget in (1, 2)]
        [100, 67]
    """
    begin = time.perf_counter()
    check_choice("certify_collective", mode, "mode", MODES)
    examined = check_budgets("certify_collective", budgets)
    tested = Tested.of("certify_collective", nodes, y)
    rows = Rows(diffusion, mode)
    predicted = diffusion.diffused().argmax(1)[tested.nodes.numpy()]
    correct = torch.from_numpy(predicted) == tested.labels
    survived = _survived(diffusion, rows, tested, predicted, int(examined[-1]), progress)[correct.numpy()]
    chosen = tested.nodes.numpy()[correct.numpy()]
    counts = []
    for budget in examined:
        if progress is not None:
            progress(f"collective budget {budget:g}")
        counts.append(len(chosen) - _failures(diffusion, rows, chosen, survived, int(budget)))
    return tested.certificate(
        threat=f"edges, evasion, {CHANGES[mode]} anywhere in the graph, "
        "all nodes at once; the budget is the number of undirected flips",
        kind="sound bound",
        predicted=torch.from_numpy(predicted),
        radii=torch.full((len(predicted),), -1),
        seconds=time.perf_counter() - begin,
        budgets=examined,
        counts=torch.tensor(counts),
    )


def _survived(
    diffusion: LinearDiffusion,
    rows: Rows,
    tested: Tested,
    predicted: Ints,
    most: int,
    progress: Callable[[str], None] | None,
) -> NDArray[np.float64]:
    """Return for each node the flips per row that it survives, up to `most`; -1 for a tie without any."""
    margins = []
    for local in range(most + 1):
        tell = describing(progress, f"{local} flips per node")
        budgets = np.minimum(np.full(rows.num_nodes, local), _room(rows))
        rows.check("certify_collective", budgets)
        found = worst_margins(diffusion, rows, budgets, tested.nodes.numpy(), predicted, progress=tell)
        margins.append(found)
        if not (found > 0).any():
            break
    return radii_from_margins(range(len(margins)), as_tensor(np.stack(margins))).numpy()


def _room(rows: Rows) -> Ints:
    """Return how many flips a row can have at all."""
    return rows.removable if rows.mode == "remove" else np.full(rows.num_nodes, rows.num_nodes)


def _failures(
    diffusion: LinearDiffusion, rows: Rows, nodes: Ints, survived: NDArray[np.float64], budget: int
) -> int:
    """Bound the number of these nodes that at most `budget` flips can fool."""
    possible = survived < budget
    always = int((survived < 0).sum())  # ties
    if diffusion.theta is not None and len(diffusion.theta) <= 2:
        needed = np.sort(survived[possible & (survived >= 0)] + 1)
        return always + int((np.cumsum(needed) <= 2 * budget).sum())
    if rows.mode != "remove" or diffusion.theta is None:
        return int(possible.sum())
    kept = possible & (survived >= 0)
    bound = _solve(_within(rows, len(diffusion.theta) - 2)[nodes[kept]], survived[kept], rows, budget)
    return always + min(bound, int(kept.sum()))


def _within(rows: Rows, hops: int) -> sparse.csr_array:
    """Return which rows lie within so many hops of each node, as a matrix of ones."""
    step = sparse.csr_array((rows.base > 0).astype(np.float64) + sparse.eye_array(rows.num_nodes))
    reached = sparse.csr_array(sparse.eye_array(rows.num_nodes))
    for _ in range(hops):
        reached = sparse.csr_array((reached @ step > 0).astype(np.float64))
    return reached


def _solve(near: sparse.csr_array, survived: NDArray[np.float64], rows: Rows, budget: int) -> int:
    """Solve the linear program of the top of this file; variables are x and then ρ."""
    k, n = near.shape
    if not k or not budget:
        return 0
    fail = sparse.hstack([sparse.diags_array(survived + 1.0), -near])
    total = sparse.csr_array(np.concatenate([np.zeros(k), np.ones(n)])[None, :])
    most = np.minimum(budget, rows.removable)
    solve: Any = linprog  # its stubs do not know sparse constraints
    found = solve(
        -np.concatenate([np.ones(k), np.zeros(n)]),
        A_ub=sparse.csr_array(sparse.vstack([fail, total])),
        b_ub=np.concatenate([np.zeros(k), [2.0 * budget]]),
        bounds=np.stack([np.zeros(k + n), np.concatenate([np.ones(k), most])], axis=1),
        method="highs",
    )
    if not found.success:
        raise RuntimeError(f"certify_collective: the linear program was not solved: {found.message}")
    return int(np.floor(-found.fun + _ROUNDING))
