"""Chebyshev against Horner.

The series Σ θ_k T^k X with λ = 32 and K = 128 takes 128 products by Horner's rule. Cutting it early leaves
an error that falls slowly, as (λ/(λ+1))^K. The same polynomial in Chebyshev's basis needs far fewer
products for the same error. `gadc.diffuse(..., rtol=...)` uses it where the error can be promised.

Finding: an error below 1e-3 takes 30 products by Chebyshev's basis and 127 by Horner's rule.
"""

import sys
from pathlib import Path
from unittest.mock import patch

import matplotlib.pyplot as plt

import gadc
from gadc.datasets import csbm
from gadc.series import neumann

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
LAM, STEPS = 32.0, 128

data = csbm(2000, num_features=16, mean_degree=8.0, seed=0)
x = data.x.double()
T = gadc.transition(x, data.edge_index, variant="plain")
theta = neumann(LAM, STEPS)
exact = gadc.polynomial(T, x, theta)


def cost_and_error(theta, rtol=None):
    """Return the number of products and the relative error of a way to sum the series."""
    apply = gadc.LinearOperator.apply
    with patch.object(gadc.LinearOperator, "apply", autospec=True, side_effect=apply) as counted:
        result = gadc.polynomial(T, x, theta, rtol=rtol)
    return counted.call_count, float((result - exact).norm() / exact.norm())


horner = [cost_and_error(theta[: k + 1]) for k in range(1, STEPS, 6)]
chebyshev = [cost_and_error(theta, rtol=10.0**-digits) for digits in range(1, 9)]

figure, axis = plt.subplots()
axis.semilogy(*zip(*horner, strict=True), "s--", label="Horner, cut early")
axis.semilogy(*zip(*chebyshev, strict=True), "o-", label="Chebyshev, rtol = 1e-1 ... 1e-8")
axis.set(xlabel="products with T", ylabel="relative error", title="The same sum with fewer products")
axis.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "chebyshev_horner.png")
few, many = (next(count for count, error in way if error < 1e-3) for way in (chebyshev, horner))
print(f"an error below 1e-3 takes {few} products by Chebyshev's basis and {many} by Horner's rule.")
