"""Diffusion over a packed graph: stages of tasks from file to file."""

from gadc.packed._diffusion._diffuse import (
    DiffusedFeatures,
    Tell,
    diffuse,
    holding,
    make_run,
    tell_neighbors,
    tell_warnings,
)
from gadc.packed._diffusion._run import DiffusionRun, open_graph
from gadc.packed._diffusion._scales import read_scales, scale_stage, scales_of
from gadc.packed._diffusion._settings import DiffusionSettings
from gadc.packed._diffusion._stages import diffusion_stages, peak_memory, stage_by_rows

__all__ = [
    "DiffusedFeatures",
    "DiffusionRun",
    "DiffusionSettings",
    "Tell",
    "diffuse",
    "diffusion_stages",
    "holding",
    "make_run",
    "open_graph",
    "peak_memory",
    "read_scales",
    "scale_stage",
    "scales_of",
    "stage_by_rows",
    "tell_neighbors",
    "tell_warnings",
]
