"""The modified transition matrix T = Â - εΦ: one file per variant, and the registry of their names.

    plain  T = Â                                           Plain
    I      Φ_ij = w_ij cos(X_i, X_j) on edges              EdgeCosine       heterophilic graphs
    II     Φ = X Xᵀ / ‖X Xᵀ‖_F, all pairs                  GlobalGram       noisy features, low degree
    III    Φ_ij = w_ij X_i·X_j / ‖X Xᵀ‖_F on edges         EdgeGram         noisy features, large graphs
    IV     T_ij = w_ij cos(X_i, X_j) on edges              CosineGraph      attacked edges
    IV+    IV and the nearest nodes by X, normalised       AnchoredCosine   attacks that know the defence

I to IV are Eqs. 16 and 18 of the paper; IV+ is an addition of this library. A transition is any callable
`(x, edge_index, edge_weight=None) -> LinearOperator`; the ones here are frozen dataclasses of their settings.
Edge weights w (1 by default) multiply Φ, so an edge of weight 0 is not an edge, also for the gradient.
`RelationSum` adds up one of them over several relations.
"""

from gadc.diffusion._transitions._anchored_cosine import AnchoredCosine
from gadc.diffusion._transitions._cosine_graph import CosineGraph
from gadc.diffusion._transitions._edge_cosine import EdgeCosine
from gadc.diffusion._transitions._edge_gram import EdgeGram
from gadc.diffusion._transitions._global_gram import GlobalGram
from gadc.diffusion._transitions._plain import Plain
from gadc.diffusion._transitions._registry import VARIANTS, Transition, make_transition, transition
from gadc.diffusion._transitions._relation_sum import RelationSum, add_up

__all__ = [
    "VARIANTS",
    "AnchoredCosine",
    "CosineGraph",
    "EdgeCosine",
    "EdgeGram",
    "GlobalGram",
    "Plain",
    "RelationSum",
    "Transition",
    "add_up",
    "make_transition",
    "transition",
]
