"""The paper: graph -> transition -> series -> polynomial -> diffuse; denoising and theory.

- `transition`, `make_transition`: the transition matrix of a graph; the transition object of a name.
- `Plain`, `EdgeCosine`, `GlobalGram`, `EdgeGram`, `CosineGraph`, `AnchoredCosine`: the transitions, with all
  their settings; `VARIANTS` gives them by name. `RelationSum`: one of them per relation, added up.
- `neumann`, `ppr`, `appnp`, `sgc`, `ssgc`, `heat`: coefficients of a diffusion series.
- `polynomial`, `diffuse`, `diffuse_on_disk`: the series applied to features, with any operator, in one call,
  and from file to file.
- `converged`, `Converged`: the whole series, with a bound on the error.
- `DiffusionState`, `Update`, `Impact`: a diffusion that is updated when its graph changes.
- `minimize_agsd`, `AGSDSolution`, `gsd_objective`, `agsd_objective`, `worst_perturbation`: graph signal
  denoising against an adversary, solved exactly.
- `connectivity_factor`, `noise_gain`, `row_sums`, `total_weight`, `Estimate`, `entrywise_noise_bound`,
  `expected_noise_energy`, `printed_frobenius_bound`: how much noise a diffusion lets through.
- `normalize_rows`, `NORMALIZATIONS`: row normalisation of features.
- `LowRank`: the transition of a low-rank graph, a baseline.
"""

from gadc.diffusion._converged import Converged, converged
from gadc.diffusion._denoising import AGSDSolution, NotConvergedWarning, minimize_agsd
from gadc.diffusion._diffuse import DivergentSeriesWarning, diffuse
from gadc.diffusion._low_rank import LowRank
from gadc.diffusion._nearest import ApproximateNeighborsWarning
from gadc.diffusion._normalization import NORMALIZATIONS, NearZeroRowSumWarning, normalize_rows
from gadc.diffusion._objectives import agsd_objective, gsd_objective, worst_perturbation
from gadc.diffusion._polynomial import polynomial
from gadc.diffusion._series import appnp, heat, neumann, ppr, sgc, ssgc
from gadc.diffusion._state import DiffusionState, Impact, Update
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
from gadc.diffusion._transitions import (
    VARIANTS,
    AnchoredCosine,
    CosineGraph,
    EdgeCosine,
    EdgeGram,
    GlobalGram,
    Plain,
    RelationSum,
    Transition,
    make_transition,
    transition,
)

__all__ = [
    "NORMALIZATIONS",
    "VARIANTS",
    "AGSDSolution",
    "AnchoredCosine",
    "ApproximateNeighborsWarning",
    "Converged",
    "CosineGraph",
    "DiffusionState",
    "DivergentSeriesWarning",
    "EdgeCosine",
    "EdgeGram",
    "Estimate",
    "GlobalGram",
    "Impact",
    "LowRank",
    "NearZeroRowSumWarning",
    "NotConvergedWarning",
    "Plain",
    "RelationSum",
    "Transition",
    "Update",
    "agsd_objective",
    "appnp",
    "connectivity_factor",
    "converged",
    "diffuse",
    "diffuse_on_disk",
    "entrywise_noise_bound",
    "expected_noise_energy",
    "gsd_objective",
    "heat",
    "make_transition",
    "minimize_agsd",
    "neumann",
    "noise_gain",
    "normalize_rows",
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
