"""How much noise a diffusion lets through, and how well connected it makes a graph (Section 3.3, Appendix B).

    β = 1 - (λ/(λ+1))^(K+1)                   row sums of S with norm="rw"
    τ = max_i τ_i,  τ_i = n Σ_j S_ij² / β²    in [1, n] with norm="rw": 1 for even rows, n for isolated nodes
    ‖S‖_F² / n                                noise gain: mean square of unit noise that is left in an entry

(The paper's Eq. 20 misses a sum in the denominator; its proof has β².) All functions take the operator T, so
they apply to every variant. Figures of small graphs are exact; on large graphs ‖S‖_F and the row norms are
estimated with random probes, and an error bar is given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from gadc._base.scalars import check_count, check_number, check_share
from gadc._base.validation import check_finite_result
from gadc.diffusion._polynomial import evaluate
from gadc.diffusion._series import neumann
from gadc.operators import LinearOperator

# Up to this number of nodes S is formed (in slabs of columns) and every figure is exact.
EXACT_LIMIT = 4096
_SLAB = 512


@dataclass(frozen=True)
class Estimate:
    """A figure with its error; `float()` gives the figure.

    Attributes:
        value: The figure.
        error: One standard error (`noise_gain`), or by how much the true maximum may exceed the figure at two
            standard errors (`connectivity_factor`); 0 for an exact figure.
        exact: Whether the figure is exact up to rounding.

    Examples:
        >>> from gadc.theory import Estimate
        >>> float(Estimate(value=1.5, error=0.1, exact=False))
        1.5
    """

    value: float
    error: float
    exact: bool

    def __float__(self) -> float:
        return self.value


def total_weight(lam: float, num_steps: int) -> float:
    """Compute β = Σ_k θ_k = 1 - (λ/(λ+1))^(K+1).

    Args:
        lam: Strength λ >= 0 of the smoothing.
        num_steps: Number of steps K of the series.

    Examples:
        >>> from gadc.theory import total_weight
        >>> total_weight(1.0, 3)
        0.9375
    """
    return math.fsum(neumann(lam, num_steps))


@torch.no_grad()
def row_sums(operator: LinearOperator, *, lam: float, num_steps: int) -> Tensor:
    """Compute the row sums of S; for the plain transition with norm="rw" all of them are β.

    Args:
        operator: T, shape (n, n).
        lam: Strength λ >= 0 of the smoothing.
        num_steps: Number of steps K of the series.

    Returns:
        The sums, shape (n,).

    Examples:
        >>> import torch, gadc
        >>> T = gadc.transition(torch.eye(3), torch.tensor([[0, 1], [1, 2]]), variant="plain", norm="rw")
        >>> gadc.theory.row_sums(T, lam=1.0, num_steps=3)
        tensor([0.9375, 0.9375, 0.9375])
    """
    ones = torch.ones(operator.shape[1], dtype=operator.dtype, device=operator.device)
    theta = neumann(lam, num_steps)
    return evaluate(operator.detach(), ones, theta, owner="row_sums", name="the row sums of S")


@torch.no_grad()
def noise_gain(
    operator: LinearOperator,
    *,
    lam: float,
    num_steps: int,
    num_probes: int = 64,
    exact: bool | None = None,
    seed: int = 0,
) -> Estimate:
    """Compute the noise gain ‖S‖_F² / n, on large graphs by Hutchinson's probes, E‖Sz‖² = ‖S‖_F².

    Args:
        operator: T, shape (n, n).
        lam: Strength λ >= 0 of the smoothing.
        num_steps: Number of steps K of the series.
        num_probes: Number of probes >= 2, 64 by default.
        exact: Compute exactly or not; by default exactly up to 4096 nodes.
        seed: Seed of the probes, 0 by default.

    Returns:
        The noise gain; its error is one standard error.

    Examples:
        >>> import torch, gadc
        >>> T = gadc.transition(torch.eye(4), torch.empty(2, 0, dtype=torch.int64), variant="plain")
        >>> gadc.theory.noise_gain(T, lam=1.0, num_steps=0).value  # S = I / 2
        0.25
    """
    operator, n, theta = operator.detach(), operator.shape[0], neumann(lam, num_steps)
    if _is_exact(n, exact):
        return _finite("noise_gain", float(_exact_row_squares(operator, theta).sum()) / n, 0.0, True)
    samples = _probe(operator, theta, num_probes, seed).square().sum(0) / n
    error = float(samples.std() / math.sqrt(len(samples)))
    return _finite("noise_gain", float(samples.mean()), error, False)


@torch.no_grad()
def connectivity_factor(
    operator: LinearOperator,
    *,
    lam: float,
    num_steps: int,
    num_probes: int = 64,
    max_rows: int = 256,
    exact: bool | None = None,
    seed: int = 0,
) -> Estimate:
    """Compute the higher-order connectivity factor τ = max_i n Σ_j S_ij² / β².

    On large graphs, probes rank the rows by their estimated norm, and the `max_rows` largest are computed
    exactly. Their maximum is a certain lower bound of τ; the error says by how much another row could exceed
    it at two standard errors.

    Args:
        operator: T, shape (n, n).
        lam: Strength λ >= 0 of the smoothing.
        num_steps: Number of steps K of the series.
        num_probes: Number of probes >= 2, 64 by default.
        max_rows: Number of rows that are computed exactly on large graphs, 256 by default.
        exact: Compute exactly or not; by default exactly up to 4096 nodes.
        seed: Seed of the probes, 0 by default.

    Returns:
        τ, in [1, n] for the plain transition with norm="rw".

    Examples:
        >>> import torch, gadc
        >>> T = gadc.transition(torch.eye(4), torch.empty(2, 0, dtype=torch.int64), variant="plain")
        >>> round(gadc.theory.connectivity_factor(T, lam=32.0, num_steps=32).value, 4)  # isolated nodes
        4.0
    """
    operator, n, beta = operator.detach(), operator.shape[0], total_weight(lam, num_steps)
    theta = [weight / beta for weight in neumann(lam, num_steps)]  # β² may be too small for a number
    if _is_exact(n, exact):
        largest = float(_exact_row_squares(operator, theta).max())
        return _finite("connectivity_factor", n * largest, 0.0, True)
    squares = _probe(operator, theta, num_probes, seed).square()
    estimates, errors = squares.mean(1), squares.std(1) / math.sqrt(num_probes)
    ranked = torch.argsort(estimates, descending=True)
    chosen, rest = ranked[:max_rows], ranked[max_rows:]
    found = float(_exact_row_squares(operator, theta, chosen).max())
    upper = float((estimates + 2 * errors)[rest].max()) if len(rest) else 0.0
    return _finite("connectivity_factor", n * found, n * max(0.0, upper - found), False)


def entrywise_noise_bound(
    tau: float,
    *,
    lam: float,
    num_steps: int,
    sigma: float,
    num_nodes: int,
    num_features: int,
    failure: float | None = None,
) -> float:
    """Bound max_ij (SΥ)_ij² for sub-Gaussian noise Υ with parameter σ, with probability >= 1 - failure.

    The bound is 2τβ²σ² log(2nd / failure) / n: Hoeffding's inequality for each entry and a union bound over
    all entries. The proof of Theorem 1 gives this bound; ‖SΥ‖_F² is at most n·d times as large.

    Args:
        tau: Connectivity factor τ, see `connectivity_factor`.
        lam: Strength λ >= 0 of the smoothing.
        num_steps: Number of steps K of the series.
        sigma: Parameter σ >= 0 of the noise.
        num_nodes: Number of nodes n.
        num_features: Number of features d.
        failure: Probability in (0, 1] that the bound may fail with; by default 1/d, as in the paper.

    Examples:
        >>> from gadc.theory import entrywise_noise_bound
        >>> bound = entrywise_noise_bound(
        ...     1.0, lam=32.0, num_steps=16, sigma=1.0, num_nodes=100, num_features=10
        ... )
        >>> round(bound, 4)
        0.0329
    """
    n = check_count("entrywise_noise_bound", num_nodes, "num_nodes", low=1)
    d = check_count("entrywise_noise_bound", num_features, "num_features", low=1)
    sigma = check_number("entrywise_noise_bound", sigma, "sigma")
    failure = 1 / d if failure is None else failure
    failure = check_share("entrywise_noise_bound", failure, "failure", bounds="(0, 1]")
    tau = check_number("entrywise_noise_bound", tau, "tau")
    beta, logarithm = total_weight(lam, num_steps), math.log(2 * n * d) - math.log(failure)
    return _figure("entrywise_noise_bound", 2 / n, tau, beta, sigma, beta, sigma, logarithm)


def expected_noise_energy(gain: float, *, sigma: float, num_nodes: int, num_features: int) -> float:
    """Compute E‖SΥ‖_F² = σ² d ‖S‖_F², which is exact for uncorrelated noise Υ of variance σ².

    Args:
        gain: Noise gain ‖S‖_F² / n, see `noise_gain`.
        sigma: Standard deviation σ >= 0 of the noise.
        num_nodes: Number of nodes n.
        num_features: Number of features d.

    Examples:
        >>> from gadc.theory import expected_noise_energy
        >>> expected_noise_energy(0.25, sigma=2.0, num_nodes=10, num_features=3)
        30.0
    """
    gain = check_number("expected_noise_energy", gain, "gain")
    sigma = check_number("expected_noise_energy", sigma, "sigma")
    n = check_count("expected_noise_energy", num_nodes, "num_nodes", low=1)
    d = check_count("expected_noise_energy", num_features, "num_features", low=1)
    return _figure("expected_noise_energy", gain, sigma, sigma, n, d)


def printed_frobenius_bound(
    tau: float, *, lam: float, num_steps: int, sigma: float, num_nodes: int, num_features: int
) -> float:
    """Compute the right-hand side of Theorem 1 as printed, which is not a bound of ‖SΥ‖_F².

    The formula is 2τβ²σ² (4 log n + log 2d) / n. Every τ_i >= 1 gives ‖S‖_F² >= β², so E‖SΥ‖_F² >= σ² d β²,
    which is far above it for large n. The slip is the last union bound of the proof: ‖M‖_F² >= t does not
    force an entry above √t. Use `entrywise_noise_bound` instead.

    Args:
        tau: Connectivity factor τ, see `connectivity_factor`.
        lam: Strength λ >= 0 of the smoothing.
        num_steps: Number of steps K of the series.
        sigma: Parameter σ of the noise.
        num_nodes: Number of nodes n.
        num_features: Number of features d.

    Examples:
        >>> from gadc.theory import printed_frobenius_bound
        >>> bound = printed_frobenius_bound(
        ...     1.0, lam=32.0, num_steps=16, sigma=1.0, num_nodes=100, num_features=10
        ... )
        >>> round(bound, 4)
        0.0711
    """
    tau = check_number("printed_frobenius_bound", tau, "tau")
    sigma = check_number("printed_frobenius_bound", sigma, "sigma")
    n = check_count("printed_frobenius_bound", num_nodes, "num_nodes", low=1)
    d = check_count("printed_frobenius_bound", num_features, "num_features", low=1)
    beta, logarithm = total_weight(lam, num_steps), 4 * math.log(n) + math.log(2 * d)
    return _figure("printed_frobenius_bound", 2 / n, tau, beta, sigma, beta, sigma, logarithm)


def _is_exact(num_nodes: int, exact: bool | None) -> bool:
    return num_nodes <= EXACT_LIMIT if exact is None else exact


def _exact_row_squares(operator: LinearOperator, theta: list[float], rows: Tensor | None = None) -> Tensor:
    """Compute Σ_j S_ij² for the given rows: rows of S are columns of Sᵀ, so unit vectors go through Tᵀ."""
    n, transposed = operator.shape[0], operator.T
    rows = torch.arange(n, device=operator.device) if rows is None else rows
    squares = []
    for slab in torch.split(rows, _SLAB):
        units = torch.zeros((n, len(slab)), dtype=operator.dtype, device=operator.device)
        units[slab, torch.arange(len(slab), device=operator.device)] = 1.0
        rows_of_s = evaluate(transposed, units, theta, owner="theory", name="S")
        squares.append(rows_of_s.double().square().sum(0))
    return torch.cat(squares)


def _probe(operator: LinearOperator, theta: list[float], num_probes: int, seed: int) -> Tensor:
    """Compute S Z in float64 for random signs Z, one column per probe: E (SZ)_i² = Σ_j S_ij²."""
    check_count("theory", num_probes, "num_probes", low=2)
    generator = torch.Generator().manual_seed(seed)
    signs = torch.randint(0, 2, (operator.shape[1], num_probes), generator=generator)
    probes = (2 * signs - 1).to(operator.device, operator.dtype)
    return evaluate(operator, probes, theta, owner="theory", name="S Z").double()


def _finite(owner: str, value: float, error: float, exact: bool) -> Estimate:
    """Return an estimate, or refuse it if a square overflowed."""
    for number in (value, error):
        check_finite_result(owner, number, "‖S‖_F²", "scale the operator down")
    return Estimate(value, error, exact)


def _figure(owner: str, *factors: float) -> float:
    """Multiply the factors of a figure, and refuse a product that overflowed."""
    return check_finite_result(owner, math.prod(factors), "the figure", "take a smaller sigma, tau or gain")
