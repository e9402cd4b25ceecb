"""Graph Adversarial Diffusion Convolution: robust learning on noisy, attacked or heterophilic graphs.

The flow: edges and features -> `transition` T -> `diffuse` F = S X -> a linear model or an MLP on F.
"""

from gadc._version import __version__
from gadc.diffusion._denoising import (
    AGSDSolution,
    NotConvergedWarning,
    agsd_objective,
    gsd_objective,
    minimize_agsd,
    worst_perturbation,
)
from gadc.diffusion._diffuse import (
    DivergentSeriesWarning,
    appnp,
    diffuse,
    heat,
    neumann,
    polynomial,
    ppr,
    sgc,
    ssgc,
)
from gadc.diffusion._streaming import diffuse_on_disk
from gadc.diffusion._theory import (
    Estimate,
    connectivity_factor,
    entrywise_noise_bound,
    expected_noise_energy,
    noise_gain,
    printed_frobenius_bound,
    row_sums,
    total_weight,
)
from gadc.diffusion._transitions import transition
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
