"""Dynamic programming: a sound bound on the worst case of a finite series under local budgets.

    u_K = θ_K r,    u_k = θ_k r + max over perturbed rows of T' u_{k+1},    u_0 >= Σ_k θ_k T'^k r

Every step may choose other flips, which a real attacker cannot, so that the bound is sound and not exact. It
holds since the entries of T' are not negative. For one step (K = 1) it is exact.
"""

from __future__ import annotations

from collections.abc import Sequence

from gadc.robustness.certificates._diffusion import Floats
from gadc.robustness.certificates._rows import Ints, Rows


def worst_after_steps(rows: Rows, reward: Floats, budgets: Ints, theta: Sequence[float]) -> Floats:
    """Bound the lead of class c over class a that flips can give each node from above, shape (n,).

    Args:
        rows: The rows under the threat.
        reward: r = Z_c - Z_a, shape (n,).
        budgets: Flips allowed in each row.
        theta: Coefficients θ_0..θ_K.
    """
    lead = theta[-1] * reward
    for weight in theta[-2::-1]:
        lead = weight * reward + rows.maximise(lead, budgets)
    return lead
