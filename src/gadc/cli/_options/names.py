"""Names of registered variants, noises, attacks and so on, for help texts.

The registries take seconds to import, and help is shown at once. A test compares the two.
"""

ATTACKS = (
    "random",
    "dice",
    "fga",
    "pgd",
    "min-max",
    "prbcd",
    "grbcd",
    "eva",
    "poison-pgd",
    "poison-prbcd",
    "poison-eva",
    "metattack",
    "nettack",
)
KINDS = ("heterophily", "edge", "missing_edge", "label", "feature", "duplicate", "isolated", "leak")
METRICS = ("accuracy", "balanced-accuracy")
NOISES = (
    "gaussian-noise",
    "feature-flip",
    "feature-mask",
    "edge-addition",
    "edge-removal",
    "edge-rewiring",
    "label-noise",
)
REPAIRS = ("duplicate-ids", "empty-ids", "non-numbers", "bad-weights", "bad-times")
SCORES = ("combined", "denoised", "neighbors", "centered", "cosine", "common")
VARIANTS = ("plain", "I", "II", "III", "IV", "IV+")
