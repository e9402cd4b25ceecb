"""GADC for PyTorch Geometric."""

from gadc.pyg._pyg import GADC, GADCConv, GADCNet

__all__ = ["GADC", "GADCConv", "GADCNet"]
