"""The check that every graph passes at the border of the package, whether a file or a caller brought it.

What can be understood becomes the form that the package works with; everything else is refused in one
sentence that names the attribute, the rule and the value.

    x                a dense matrix, float32 or float64; from sparse, integer, boolean and 16-bit matrices.
                     With `keep_sparse` a sparse matrix becomes CSR, float32.
    y                int64, -1 for an unlabelled node; from booleans, other integers, lists and floats with
                     whole values (NaN is unlabelled). Class numbers with large gaps are numbered again, and
                     `class_names` keeps them.
    edge_index       int64, node numbers below the number of nodes
    edge_weight      one finite number per edge, float32 or float64
    masks            boolean vectors; from bytes and integers that are 0 or 1
    node_ids, feature_names, class_names   flat lists without repetition, all text or all numbers
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from gadc._base.memory import check_memory
from gadc._base.validation import check_edge_index, check_edge_weight, check_features, check_sparse_features

MASKS = ("train_mask", "val_mask", "test_mask")
_HALF = (torch.float16, torch.bfloat16)
_MAX_GAPS = 1000  # class numbers above this and above twice the number of classes are numbered again
_BYTES_PER_NODE = 24  # degrees, row pointers and positions, at least


def check_graph(owner: str, data: Any, *, needs: Sequence[str] = (), keep_sparse: bool = False) -> Data:
    """Return a graph with attributes of the documented types: `data` itself, or a copy where one changes.

    `data` is not changed, and a copy shares the attributes that have the right form.

    Args:
        owner: Name of the public function, or of the file.
        data: The graph.
        needs: Attributes that must be there, such as "x".
        keep_sparse: Return sparse features as a CSR matrix of float32 instead of a dense matrix; False by
            default. Dense features stay dense.

    Raises:
        TypeError: An attribute has a type that cannot be understood.
        ValueError: An attribute has values or a shape that cannot be understood.

    Examples:
        >>> import torch
        >>> from torch_geometric.data import Data, HeteroData
        >>> edges = torch.tensor([[0, 1], [1, 0]])
        >>> data = Data(x=torch.eye(2).to_sparse(), edge_index=edges, y=torch.tensor([0.0, 5e9]))
        >>> checked = check_graph("example", data)
        >>> checked.y.tolist(), checked.class_names, checked.x.layout
        ([0, 1], [0, 5000000000], torch.strided)
    """
    if isinstance(data, HeteroData):
        raise TypeError(
            f"{owner}: data must be a PyTorch Geometric Data with one kind of nodes, got a HeteroData with "
            f"nodes {', '.join(map(repr, data.node_types)) or 'of no kind'}; "
            "gadc.datasets.from_hetero(data, target) reads one kind with its relations."
        )
    if not isinstance(data, Data):
        raise TypeError(f"{owner}: data must be a PyTorch Geometric Data, got {type(data).__name__}.")
    for name in needs:
        if data.get(name) is None:
            raise ValueError(f"{owner}: data must have {name}, got none.")
    checked = copy(data)
    if data.get("x") is not None:
        sparse = keep_sparse and isinstance(data.x, Tensor) and data.x.layout != torch.strided
        checked.x = (check_sparse_features if sparse else _features)(owner, data.x, "data.x")
    n = _num_nodes(owner, checked)
    if checked.x is None:
        checked.num_nodes = n
    _check_edges(owner, checked, n)
    if data.get("y") is not None:
        checked.y = _labels(owner, data.y, n)
    for name in MASKS:
        if data.get(name) is not None:
            checked[name] = _mask(owner, name, data[name], n)
    _check_overlap(owner, checked)
    _check_names(owner, checked, n)
    same = all(value is data.get(name) for name, value in checked.to_dict().items())
    return data if same else checked


def check_unsigned(owner: str, data: Data) -> None:
    """Refuse negative weights where an edge between similar nodes is taken to be right."""
    weight = data.get("edge_weight")
    if weight is not None and len(weight) and float(weight.min()) < 0:
        raise ValueError(
            f"{owner}: edge_weight must be >= 0, since similar ends are taken for a sign of a right edge, "
            f"got {float(weight.min()):g}."
        )


def _features(owner: str, x: Any, name: str) -> Tensor:
    if isinstance(x, Tensor) and x.ndim == 2:
        needed = x.numel() * (4 if x.layout != torch.strided or x.dtype in _HALF else 0)
        check_memory(owner, needed, f"{name} of {x.shape[0]:,} nodes and {x.shape[1]:,} features")
        if x.requires_grad:
            x = x.detach()
        if x.dtype in _HALF:
            x = x.float()
    return check_features(owner, x, name)


def _num_nodes(owner: str, data: Data) -> int:
    """Return the stated number of nodes, or the number of rows or node numbers."""
    stated = data.get("num_nodes") if "num_nodes" in data else None
    if stated is not None and (not isinstance(stated, int) or isinstance(stated, bool) or stated < 0):
        raise ValueError(f"{owner}: data.num_nodes must be a whole number >= 0, got {stated!r}.")
    rows = None if data.x is None else len(data.x)
    if rows is not None and stated is not None and rows != stated:
        raise ValueError(f"{owner}: data.x must have one row per node ({stated:,}), got {rows:,} rows.")
    n = rows if rows is not None else stated
    if n is None:
        n = _inferred_nodes(data)
    check_memory(owner, _BYTES_PER_NODE * n, f"a graph of {n:,} nodes")
    return n


def _inferred_nodes(data: Data) -> int:
    for name in ("y", "node_ids"):
        values = data.get(name)
        if isinstance(values, list | tuple) or (isinstance(values, Tensor) and values.ndim):
            return len(values)
    edges = data.get("edge_index")
    return int(edges.max()) + 1 if isinstance(edges, Tensor) and edges.numel() else 0


def _check_edges(owner: str, data: Data, num_nodes: int) -> None:
    weight = data.get("edge_weight")
    if data.get("edge_index") is None:
        return
    data.edge_index = check_edge_index(owner, data.edge_index, num_nodes)
    if weight is None:
        return
    wide = isinstance(weight, Tensor) and weight.dtype in (torch.float32, torch.float64)
    dtype = weight.dtype if wide else torch.float32
    checked = check_edge_weight(owner, weight, data.edge_index.shape[1], dtype)
    data.edge_weight = checked.detach() if checked.requires_grad else checked


def _labels(owner: str, y: Any, num_nodes: int) -> Tensor:
    """Return the class numbers of the nodes as int64."""
    if isinstance(y, list | tuple):
        y = _tensor(y)
    rule = f"data.y must hold one class number per node (-1 = unlabelled) for {num_nodes:,} nodes"
    if not isinstance(y, Tensor):
        raise ValueError(f"{owner}: {rule}, got {_short(y)}.")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.shape != (num_nodes,) or y.is_complex() or y.layout != torch.strided:
        raise ValueError(f"{owner}: {rule}, got {y.dtype} of shape {tuple(y.shape)}.")
    if y.is_floating_point():
        y = y.detach().double().nan_to_num(nan=-1.0, posinf=0.5, neginf=0.5)
        broken = (y != y.floor()) | (y.abs() >= 2.0**63)
        if broken.any():
            first = int(broken.int().argmax())
            raise ValueError(f"{owner}: {rule}, got a label that is not a whole number at node {first}.")
    codes: Tensor = y.long()
    return codes.clamp(min=-1) if len(codes) and int(codes.min()) < -1 else codes


def _mask(owner: str, name: str, mask: Any, num_nodes: int) -> Tensor:
    if isinstance(mask, list | tuple):
        mask = _tensor(mask)
    rule = f"data.{name} must be a boolean vector with one entry per node"
    if not isinstance(mask, Tensor):
        raise ValueError(f"{owner}: {rule}, got {_short(mask)}.")
    if mask.ndim == 2 and mask.shape[1] == 1:
        mask = mask[:, 0]
    if mask.ndim == 2 and mask.shape[0] == num_nodes:
        raise ValueError(
            f"{owner}: {rule}, got {mask.shape[1]} splits; choose one, such as data.{name}[:, 0]."
        )
    numbers = mask.dtype != torch.bool
    if (
        mask.shape != (num_nodes,)
        or mask.is_floating_point()
        or (numbers and not ((mask == 0) | (mask == 1)).all())
    ):
        raise ValueError(f"{owner}: {rule}, got {mask.dtype} of shape {tuple(mask.shape)}.")
    checked: Tensor = mask.bool()
    return checked


def _check_overlap(owner: str, data: Data) -> None:
    """Refuse a split whose test nodes are training nodes as well."""
    train, test = data.get("train_mask"), data.get("test_mask")
    if train is not None and test is not None and (train & test).any():
        both = int((train & test).sum())
        raise ValueError(
            f"{owner}: data.train_mask and data.test_mask must not overlap, got {both} nodes in both."
        )


def _check_names(owner: str, data: Data, num_nodes: int) -> None:
    if data.get("node_ids") is not None:
        data.node_ids = _names(owner, "node_ids", data.node_ids, num_nodes, "node")
    if data.get("feature_names") is not None:
        width = 0 if data.x is None else data.x.shape[1]
        names = _names(owner, "feature_names", data.feature_names, width, "feature")
        data.feature_names = (
            names if all(type(name) is str for name in names) else [str(name) for name in names]
        )
    given = data.get("class_names")
    if given is not None and len(_listed(given)):
        data.class_names = _names(owner, "class_names", given, None, "class")
    if data.y is not None:
        _check_classes(owner, data)


def _names(owner: str, name: str, values: Any, count: int | None, what: str) -> list[Any]:
    """Return names as a flat list without repetition, all text or all numbers."""
    names = _listed(values)
    rule = f"{owner}: data.{name} must have one name per {what}"
    if count is not None and len(names) not in (0, count):
        raise ValueError(f"{rule} ({count:,}), got {len(names):,}.")
    kinds = {type(one) for one in names}
    if not (kinds <= {str} or kinds <= {int, float, bool}):
        odd = next((one for one in names if not isinstance(one, str | int | float)), None)
        got = "both" if odd is None else _short(odd)
        raise ValueError(f"{rule}, all text or all numbers, got {got}.")
    if len(set(names)) != len(names):
        (twice, _), *_ = Counter(names).most_common(1)
        raise ValueError(f"{rule}, each different, got {twice!r} more than once.")
    return names


def _check_classes(owner: str, data: Data) -> None:
    """Refuse a class without a name; number the classes again where their numbers have large gaps."""
    top, names = int(data.y.max()) if len(data.y) else -1, data.get("class_names")
    if names is not None and len(names):
        if top >= len(names):
            raise ValueError(
                f"{owner}: data.class_names must name every class in y, got {len(names)} names and the "
                f"class number {top}."
            )
        return
    if top < _MAX_GAPS:
        return
    present, codes = torch.unique(data.y.clamp(min=-1), return_inverse=True)
    unlabelled = int(present[0] < 0)
    if top >= 2 * (len(present) - unlabelled):
        data.y, data.class_names = codes - unlabelled, present[unlabelled:].tolist()


def _listed(values: Any) -> list[Any]:
    if isinstance(values, Tensor | np.ndarray):
        values = values.tolist()
    if isinstance(values, list):
        return values
    return list(values) if isinstance(values, tuple) else [values]


def _tensor(values: Sequence[Any]) -> Any:
    """Convert a list of numbers; anything else is returned as it is."""
    try:
        return torch.tensor(values)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return values


def _short(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"
