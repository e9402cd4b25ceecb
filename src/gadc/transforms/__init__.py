"""Transforms of PyTorch Geometric `Data`: noise, purification of attacked graphs, row normalisation.

    GaussianNoise, FeatureFlip, FeatureMask       noise on features
    EdgeAddition, EdgeRemoval, EdgeRewiring       noise on edges
    LabelNoise                                    noise on training labels
    NOISES, make_noise                            noise by name
    Jaccard, Garnet, Stable, TruncatedPPR         purification: other edges for an attacked graph
    RowNormalize                                  rows of features that sum to 1, or have norm 1

All are subclasses of `torch_geometric.transforms.BaseTransform`: called on a `Data`, they return a changed
copy, and `torch_geometric.transforms.Compose([...])` applies several in turn.
"""

from gadc.transforms._row_normalize import RowNormalize
from gadc.transforms.noise import (
    NOISES,
    EdgeAddition,
    EdgeRemoval,
    EdgeRewiring,
    FeatureFlip,
    FeatureMask,
    GaussianNoise,
    LabelNoise,
    make_noise,
)
from gadc.transforms.purification import Garnet, Jaccard, Stable, TruncatedPPR

__all__ = [
    "NOISES",
    "EdgeAddition",
    "EdgeRemoval",
    "EdgeRewiring",
    "FeatureFlip",
    "FeatureMask",
    "Garnet",
    "GaussianNoise",
    "Jaccard",
    "LabelNoise",
    "RowNormalize",
    "Stable",
    "TruncatedPPR",
    "make_noise",
]
