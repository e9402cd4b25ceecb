"""Graphs of plug-ins: from the `Data` that a user's function returns to the arrays of any named data set."""

from typing import Any

import numpy as np

from gadc.datasets._border import MASKS, check_graph
from gadc.datasets.named._raw_graph import Array, RawGraph
from gadc.datasets.named._roles import roles
from gadc.datasets.named._splits import random_split


def read_made(name: str, data: Any) -> RawGraph:
    """Check the graph that a function returned; its masks, if it has any, are the split "own".

    Raises:
        TypeError: The function returned something else.
        ValueError: The graph cannot be used, or has something that a named data set would lose.
    """
    owner = f"data set {name!r}"
    checked = check_graph(owner, data, needs=("edge_index", "y"))
    if checked.get("edge_weight") is not None:
        raise ValueError(f"{owner}: edges of named data sets have no weights, got edge_weight; leave it out.")
    x, y = checked.get("x"), checked.y.numpy()
    return RawGraph(
        edges=checked.edge_index.numpy(),
        y=y,
        x=None if x is None else x.numpy(),
        splits={"own": _own_split(owner, checked, y)},
    )


def _own_split(owner: str, data: Any, y: Array) -> Array:
    """Return the roles of the masks; 60/20/20 % at random if there are none."""
    given = [mask for mask in MASKS if data.get(mask) is not None]
    if not given:
        return np.stack([random_split(y, 0)])
    if len(given) < len(MASKS):
        raise ValueError(
            f"{owner}: data must have all of {', '.join(MASKS)} or none, got {', '.join(given)}."
        )
    return np.stack([roles(*(data[mask].numpy() for mask in MASKS))])
