"""Graphs on disk: packed once, then mapped by every command, on one machine or on a cluster.

- `pack`: tables of any size as a packed graph
- `PackedGraph`: a folder whose arrays are mapped into memory
- `PackedGraphError`: the folder is damaged, incomplete or of another version
- `pack_data`: a graph in memory as a packed graph
- `diffuse`, `DiffusedFeatures`: GADC's diffusion, from file to file
- `denoise`: denoised features as a table
- `fit`: a classifier within a stated memory
- `predict`: classes and probabilities as a table
- `suspicious_edges`, `SuspiciousEdges`: the least trusted edges
"""

from typing import TYPE_CHECKING

from gadc._base.lazy_names import lazy_names

if TYPE_CHECKING:
    from gadc.packed._denoise import denoise
    from gadc.packed._diffusion import DiffusedFeatures, diffuse
    from gadc.packed._edges import SuspiciousEdges, suspicious_edges
    from gadc.packed._fit import fit
    from gadc.packed._format import PackedGraphError
    from gadc.packed._graph import PackedGraph
    from gadc.packed._pack import pack
    from gadc.packed._predict import predict
    from gadc.packed._writing import pack_data

__all__ = [
    "DiffusedFeatures",
    "PackedGraph",
    "PackedGraphError",
    "SuspiciousEdges",
    "denoise",
    "diffuse",
    "fit",
    "pack",
    "pack_data",
    "predict",
    "suspicious_edges",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_denoise": ("denoise",),
        "_diffusion": (
            "DiffusedFeatures",
            "diffuse",
        ),
        "_edges": (
            "SuspiciousEdges",
            "suspicious_edges",
        ),
        "_fit": ("fit",),
        "_format": ("PackedGraphError",),
        "_graph": ("PackedGraph",),
        "_pack": ("pack",),
        "_predict": ("predict",),
        "_writing": ("pack_data",),
    },
)
