"""A diffusion that follows a changing graph: rests of F are pushed where the graph changed."""

from gadc.diffusion._state._diffusion_state import DiffusionState, Update
from gadc.diffusion._state._impact import Impact

__all__ = ["DiffusionState", "Impact", "Update"]
