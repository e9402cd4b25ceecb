"""What the paper proves, as functions: objectives, the worst perturbation, noise bounds and connectivity.

- `gsd_objective`, `agsd_objective`, `worst_perturbation`: graph signal denoising, the same against an
  adversary, and the adversary's best move.
- `total_weight`, `row_sums`, `connectivity_factor`, `noise_gain`: β, the row sums of S, the factor τ, and the
  share of noise that a diffusion lets through.
- `entrywise_noise_bound`, `expected_noise_energy`, `printed_frobenius_bound`: what is left of noise in the
  features; the last one is Theorem 1 as printed, which does not hold.
- `Estimate`: a figure with its error.
"""

from gadc.diffusion import (
    Estimate,
    agsd_objective,
    connectivity_factor,
    entrywise_noise_bound,
    expected_noise_energy,
    gsd_objective,
    noise_gain,
    printed_frobenius_bound,
    row_sums,
    total_weight,
    worst_perturbation,
)

__all__ = [
    "Estimate",
    "agsd_objective",
    "connectivity_factor",
    "entrywise_noise_bound",
    "expected_noise_energy",
    "gsd_objective",
    "noise_gain",
    "printed_frobenius_bound",
    "row_sums",
    "total_weight",
    "worst_perturbation",
]
