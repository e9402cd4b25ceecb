"""Policy iteration: the exact worst case of the converged series under local budgets.

    v* = max over perturbed rows of  v = r + ρ T' v,    r = Z_c - Z_a

Bojchevski and Günnemann, "Certifiable Robustness to Graph Perturbations", NeurIPS 2019. A policy is a set of
flips in every row. Evaluating it is a linear system; improving it is one step of Dinkelbach in each row
(`_rows`) with μ_i = (T' v)_i. The value of no node falls, and where no row can be improved, every node has
its worst value at the same time.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from gadc.robustness.certificates._diffusion import Floats, converge, stochastic
from gadc.robustness.certificates._rows import Ints, Rows

_TOLERANCE = 1e-11  # relative improvement of a row that still counts


def worst_converged(rows: Rows, reward: Floats, budgets: Ints, lam: float) -> Floats:
    """Return the highest lead of class c over class a that flips can give each node, shape (n,).

    Args:
        rows: The rows under the threat.
        reward: r = Z_c - Z_a, shape (n,).
        budgets: Flips allowed in each row.
        lam: λ of the converged series.

    Returns:
        max over admissible T' of (I - ρ T')⁻¹ r / (λ+1), increased by a bound on the remaining error, which
        is of the order of rounding.
    """
    values, _ = worst_policy(rows, reward, budgets, lam)
    held = (values - reward) * (lam + 1) / lam if lam > 0 else values
    # ‖v* - v‖ <= ρ / (1-ρ) · (largest improvement of a row), with rows maximised to their end
    left = float((rows.maximise(values, budgets) - held).max(initial=0.0)) if lam > 0 else 0.0
    return (values + lam * max(left, 0.0)) / (lam + 1)


def worst_policy(rows: Rows, reward: Floats, budgets: Ints, lam: float) -> tuple[Floats, sparse.csr_array]:
    """Return v of the worst flips, shape (n,), and the transition T' that they make."""
    transition = stochastic(rows.base)
    values = converge(transition, reward, lam)
    # The error of the evaluated values grows with λ + 1, and so does an improvement that is only rounding.
    tolerance = _TOLERANCE * (lam + 1) ** 2 * max(float(np.abs(reward).max(initial=0.0)), 1e-300)
    while lam > 0:
        held = (values - reward) * (lam + 1) / lam
        flips = rows.best(values, held, budgets)
        if float((rows.ratios(flips, values) - held).max(initial=0.0)) <= tolerance:
            break
        transition = stochastic(sparse.csr_array(rows.base + flips.matrix(rows.num_nodes)))
        values = converge(transition, reward, lam, values)
    return values, transition
