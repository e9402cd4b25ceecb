"""Noise on features, edges and training labels.

    GaussianNoise     adds normal noise to all features
    FeatureFlip       flips features between zero and non-zero
    FeatureMask       sets features to zero
    EdgeAddition      adds edges
    EdgeRemoval       removes edges
    EdgeRewiring      replaces edges by others
    LabelNoise        gives training nodes another class

Each is a frozen transform `Data -> Data` with its own seed and leaves its input unchanged. Rates are
shares of the undirected edges or of the training nodes, and counts are exact: rate times total, rounded to
the nearest whole number. `NOISES` has all kinds by name, and `make_noise` builds one.
"""

from gadc.transforms.noise._edges import EdgeAddition, EdgeRemoval, EdgeRewiring
from gadc.transforms.noise._features import FeatureFlip, FeatureMask, GaussianNoise
from gadc.transforms.noise._labels import LabelNoise
from gadc.transforms.noise._registry import NOISES, make_noise

__all__ = [
    "NOISES",
    "EdgeAddition",
    "EdgeRemoval",
    "EdgeRewiring",
    "FeatureFlip",
    "FeatureMask",
    "GaussianNoise",
    "LabelNoise",
    "make_noise",
]
