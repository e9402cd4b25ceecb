"""The attributes that edges may have when a transform replaces them."""

from torch_geometric.data import Data

_KNOWN = ("edge_index", "edge_weight", "clean_edge_index")


def check_edge_attributes(owner: str, data: Data) -> None:
    """Refuse edges with attributes other than a weight, which would not fit the new edges."""
    extra = [key for key in data.edge_attrs() if key not in _KNOWN]
    if extra:
        raise ValueError(f"{owner}: edges may have no attribute but edge_weight, got {', '.join(extra)}.")
