"""Edges, evasion, local budgets: the worst margins of all nodes, per pair of classes.

Threat. The trained model stays as it is, and in each row i of the transition at most b_i entries are
flipped, whatever happens in the other rows. An undirected flip {i, j} changes row i and row j, so undirected
flips with at most b_i of them at each node i are a part of this threat: a certificate holds for them too. It
is exact for the flips of single rows, and a sound bound for undirected flips.

    converged series    policy iteration, exact         (`_policy_iteration`)
    finite series       dynamic programming, sound      (`_finite_steps`)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from scipy import sparse
from scipy.sparse import csgraph
from torch import Tensor

from gadc._base.scalars import check_choice
from gadc.robustness.attacks._base import MODES
from gadc.robustness.certificates._certificate import Certificate, check_budgets, radii_from_margins
from gadc.robustness.certificates._diffusion import Floats, LinearDiffusion
from gadc.robustness.certificates._finite_steps import worst_after_steps
from gadc.robustness.certificates._nodes import Tested
from gadc.robustness.certificates._pieces import Pieces, describing
from gadc.robustness.certificates._policy_iteration import worst_converged
from gadc.robustness.certificates._rows import Ints, Rows

CHANGES = {"remove": "removals", "add": "additions", "flip": "flips"}


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalFlips:
    """Flips of edges with a budget for each node.

    Args:
        mode: "flip" (default) adds and removes edges, "add" and "remove" do only one of the two.
        budgets: Strengths s to examine; 1, 2, 3 and 5 by default.
        below_degree: None (default): every node has the budget s. A number k: node i of degree d_i has the
            budget max(d_i - k + s, 0), as published with k = 11.
        protected: Edges that cannot be removed, in both directions, shape (2, k); None (default) for none.

    Examples:
        >>> from gadc.robustness.certificates import LocalFlips
        >>> LocalFlips(mode="remove", budgets=[3, 1]).examined
        (1, 3)
    """

    mode: str = "flip"
    budgets: Sequence[float] = (1, 2, 3, 5)
    below_degree: int | None = None
    protected: Tensor | None = None

    def __post_init__(self) -> None:
        check_choice("LocalFlips", self.mode, "mode", MODES)
        check_budgets("LocalFlips", self.budgets)

    @property
    def examined(self) -> tuple[float, ...]:
        """The strengths in ascending order."""
        return check_budgets("LocalFlips", self.budgets)

    def at_nodes(self, strength: float, degree: Ints) -> Ints:
        """Return the budget of each node."""
        if self.below_degree is None:
            return np.full(len(degree), int(strength))
        return np.maximum(degree - self.below_degree + int(strength), 0)

    @property
    def words(self) -> str:
        """The threat in words."""
        count = (
            "flips per node" if self.below_degree is None else f"s of b = max(d - {self.below_degree} + s, 0)"
        )
        held = "" if self.protected is None else ", protected edges stay"
        return f"edges, evasion, {CHANGES[self.mode]}{held}; the budget is the number of {count}"


def certify_edges(
    diffusion: LinearDiffusion,
    y: Tensor,
    nodes: Tensor,
    threat: LocalFlips | None = None,
    *,
    progress: Callable[[str], None] | None = None,
    pieces: Pieces | None = None,
) -> Certificate:
    """Certify diffused scores against flips of edges with local budgets.

    Args:
        diffusion: The model, from `linear_diffusion` or made by hand.
        y: Labels, shape (n,).
        nodes: Numbers of the nodes to certify.
        threat: What the attacker may do; `LocalFlips()` by default.
        progress: Function that is called with a description of each budget and class when it begins.
        pieces: Where finished pieces are looked up and kept, from `PieceStore.pieces`; nowhere by default.

    Returns:
        Worst margins of all nodes at each budget: exact for a converged series, a sound bound for a finite
        one. Both hold for undirected flips as well; see the top of this file.

    Examples:
        >>> import numpy as np, torch
        >>> from scipy import sparse
        >>> from gadc.robustness.certificates import LinearDiffusion, LocalFlips, certify_edges
        >>> star = np.zeros((3, 3))
        >>> star[0, 1:] = star[1:, 0] = 1
        >>> scores = np.array([[0.6, 0.4], [0.0, 1.0], [1.0, 0.0]])
        >>> diffusion = LinearDiffusion(
        ...     scores=scores, edges=sparse.csr_array(star), fixed=sparse.csr_array(np.eye(3)), lam=1.0
        ... )
        >>> y, nodes = torch.tensor([0, 1, 0]), torch.arange(3)
        >>> certify_edges(diffusion, y, nodes, LocalFlips(mode="remove", budgets=[0, 1])).radii.tolist()
        [0.0, 1.0, 1.0]
    """
    begin = time.perf_counter()
    threat = LocalFlips() if threat is None else threat
    pieces = Pieces() if pieces is None else pieces
    tested = Tested.of("certify_edges", nodes, y)
    rows = Rows(diffusion, threat.mode, None if threat.protected is None else threat.protected.numpy())
    chosen = tested.nodes.numpy()
    predicted = diffusion.diffused().argmax(1)[chosen]
    margins = []
    for strength in threat.examined:
        budgets = threat.at_nodes(strength, rows.degree)
        rows.check("certify_edges", budgets)
        tell = describing(progress, f"budget {strength:g}")
        compute = partial(worst_margins, diffusion, rows, budgets, chosen, predicted, progress=tell)
        margins.append(pieces.recall(f"margins at budget {strength:g}", compute))
    found = torch.tensor(margins, dtype=torch.float64)
    return tested.certificate(
        threat=threat.words,
        kind="exact" if diffusion.theta is None else "sound bound",
        predicted=torch.from_numpy(predicted),
        radii=radii_from_margins(threat.examined, found),
        seconds=time.perf_counter() - begin + pieces.saved,
        budgets=threat.examined,
        margins=found,
    )


def worst_margins(
    diffusion: LinearDiffusion,
    rows: Rows,
    budgets: Ints,
    nodes: Ints,
    predicted: Ints,
    *,
    progress: Callable[[str], None] | None = None,
) -> Floats:
    """Return the worst margin of each node over its best competitor, one run per pair of classes."""
    worst = np.full(len(nodes), np.inf)
    classes = np.unique(predicted)
    for place, one in enumerate(classes):
        if progress is not None:
            progress(f"class {place + 1} of {len(classes)}")
        mine = np.flatnonzero(predicted == one)
        for other in range(diffusion.scores.shape[1]):
            if other == one:
                continue
            reward = diffusion.scores[:, other] - diffusion.scores[:, one]
            if diffusion.lam is not None:
                lead = worst_converged(rows, reward, budgets, diffusion.lam)
            else:
                lead = worst_after_steps(rows, reward, budgets, diffusion.theta or ())
            worst[mine] = np.minimum(worst[mine], -lead[nodes[mine]])
    return worst


def spanning_forest(edge_index: Tensor, num_nodes: int) -> Tensor:
    """Return the edges of a spanning tree of each component, in both directions, shape (2, k).

    Args:
        edge_index: Edges, shape (2, m).
        num_nodes: Number of nodes.

    Examples:
        >>> import torch
        >>> from gadc.robustness.certificates import spanning_forest
        >>> triangle = torch.tensor([[0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2]])
        >>> spanning_forest(triangle, 3).shape
        torch.Size([2, 4])
    """
    source, target = edge_index.numpy()
    graph = sparse.csr_array((np.ones(len(source)), (source, target)), shape=(num_nodes, num_nodes))
    tree = csgraph.minimum_spanning_tree(graph).tocoo()
    ends = np.stack([np.concatenate([tree.row, tree.col]), np.concatenate([tree.col, tree.row])])
    return torch.from_numpy(ends.astype(np.int64))
