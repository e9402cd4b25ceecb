"""GADC for PyTorch Geometric: a transform, a layer, and a network that attacks can differentiate through.

    GADCTransform   data -> data with S X as its features, or with the edges of T
    GADCConv        (x, edge_index, edge_weight) -> S X W + b
    GADCNet         the same, then ReLU, dropout and a linear layer

Liu, Chen, Fu, Lin, Zitnik and Wu, "Graph Adversarial Diffusion Convolution", ICML 2024.
"""

from gadc.pyg._conv import GADCConv
from gadc.pyg._net import GADCNet
from gadc.pyg._transform import GADCTransform

__all__ = ["GADCConv", "GADCNet", "GADCTransform"]
