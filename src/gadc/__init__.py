"""Graph Adversarial Diffusion Convolution: robust learning on noisy, attacked or heterophilic graphs.

The flow: edges and features -> `transition` T -> `diffuse` F = S X -> a linear model or an MLP on F.
"""

from gadc._version import __version__
from gadc.diffusion import (
    AGSDSolution,
    DivergentSeriesWarning,
    Estimate,
    NotConvergedWarning,
    agsd_objective,
    appnp,
    connectivity_factor,
    diffuse,
    diffuse_on_disk,
    entrywise_noise_bound,
    expected_noise_energy,
    gsd_objective,
    heat,
    minimize_agsd,
    neumann,
    noise_gain,
    polynomial,
    ppr,
    printed_frobenius_bound,
    row_sums,
    sgc,
    ssgc,
    total_weight,
    transition,
    worst_perturbation,
)
from gadc.operators import LinearOperator

__all__ = [
    "AGSDSolution",
    "DivergentSeriesWarning",
    "Estimate",
    "LinearOperator",
    "NotConvergedWarning",
    "__version__",
    "agsd_objective",
    "appnp",
    "connectivity_factor",
    "diffuse",
    "diffuse_on_disk",
    "entrywise_noise_bound",
    "expected_noise_energy",
    "gsd_objective",
    "heat",
    "minimize_agsd",
    "neumann",
    "noise_gain",
    "polynomial",
    "ppr",
    "printed_frobenius_bound",
    "row_sums",
    "sgc",
    "ssgc",
    "total_weight",
    "transition",
    "worst_perturbation",
]
