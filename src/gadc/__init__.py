"""Graph Adversarial Diffusion Convolution: learning on noisy, attacked or heterophilic graphs.

The flow: edges and features -> `transition` T -> `diffuse` F = S X -> a linear model or an MLP on F.

    diffuse, transition, polynomial, LinearOperator
        Features aggregated over a graph, in one call or step by step.
    DiffusionState
        The same for a graph that changes: updated in place, with a bound on the error.
    minimize_agsd, AGSDSolution
        Graph signal denoising against an adversary, solved exactly.
    GADCClassifier, GADCMultilabelClassifier, GADCRegressor, GADCTransformer
        The same for scikit-learn.
    Lab
        What is wrong with a graph: false and missing edges, wrong labels, broken features.
    load, from_tables
        A named data set, or a graph from your own tables, as PyTorch Geometric `Data`.
    pack, PackedGraph
        Tables larger than memory as a graph on disk, whose arrays are mapped.
    suspicious_edges, audit
        Edges that look wrong; a model under attacks.
    DivergentSeriesWarning, NotConvergedWarning, NearZeroRowSumWarning
        The warnings.

Public modules:

    gadc.series      coefficients of a diffusion series
    gadc.theory      objectives, noise bounds and connectivity
    gadc.diffusion   the transitions as classes, and all of the above that concerns the paper
    gadc.transforms  graphs with noise added or removed
    gadc.models      one class per model
    gadc.lab         kinds of issues in a graph, and how to add one
    gadc.robustness  attacks, audits and suspicious edges
    gadc.datasets    named data sets, own tables and files, synthetic graphs
    gadc.packed      graphs on disk, larger than memory
    gadc.estimators  scikit-learn
    gadc.pyg         PyTorch Geometric

Names and modules are imported at first use, so that `import gadc` takes no time. The packages
`gadc.operators`, `gadc.report` and `gadc.cli` are internal. So is `gadc.experiments`, except for `register`,
`load_table` and `run_once`, with which a package adds tables of its own.
"""

from typing import TYPE_CHECKING

from gadc._base.lazy_names import lazy_names
from gadc._version import __version__

if TYPE_CHECKING:
    from gadc import datasets as datasets
    from gadc import diffusion as diffusion
    from gadc import estimators as estimators
    from gadc import lab as lab
    from gadc import models as models
    from gadc import packed as packed
    from gadc import pyg as pyg
    from gadc import robustness as robustness
    from gadc import series as series
    from gadc import theory as theory
    from gadc import transforms as transforms
    from gadc.datasets import from_tables, load
    from gadc.diffusion import (
        AGSDSolution,
        DiffusionState,
        DivergentSeriesWarning,
        NearZeroRowSumWarning,
        NotConvergedWarning,
        diffuse,
        minimize_agsd,
        polynomial,
        transition,
    )
    from gadc.estimators import GADCClassifier, GADCMultilabelClassifier, GADCRegressor, GADCTransformer
    from gadc.lab import Lab
    from gadc.operators import LinearOperator
    from gadc.packed import PackedGraph, pack
    from gadc.robustness import audit, suspicious_edges

__all__ = [
    "AGSDSolution",
    "DiffusionState",
    "DivergentSeriesWarning",
    "GADCClassifier",
    "GADCMultilabelClassifier",
    "GADCRegressor",
    "GADCTransformer",
    "Lab",
    "LinearOperator",
    "NearZeroRowSumWarning",
    "NotConvergedWarning",
    "PackedGraph",
    "__version__",
    "audit",
    "diffuse",
    "from_tables",
    "load",
    "minimize_agsd",
    "pack",
    "polynomial",
    "suspicious_edges",
    "transition",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "datasets": ("from_tables", "load"),
        "diffusion": (
            "AGSDSolution",
            "DiffusionState",
            "DivergentSeriesWarning",
            "NearZeroRowSumWarning",
            "NotConvergedWarning",
            "diffuse",
            "minimize_agsd",
            "polynomial",
            "transition",
        ),
        "estimators": ("GADCClassifier", "GADCMultilabelClassifier", "GADCRegressor", "GADCTransformer"),
        "lab": ("Lab",),
        "operators": ("LinearOperator",),
        "packed": ("PackedGraph", "pack"),
        "robustness": ("audit", "suspicious_edges"),
    },
    modules=(
        "datasets",
        "diffusion",
        "estimators",
        "lab",
        "models",
        "packed",
        "pyg",
        "robustness",
        "series",
        "theory",
        "transforms",
    ),
)
