"""What is on record about one named data set."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from torch_geometric.data import Data

from gadc.datasets.named._published_attacks import PublishedAttack
from gadc.datasets.named._raw_graph import RawGraph

Maker: TypeAlias = Callable[[], Data]


@dataclass(frozen=True, kw_only=True)
class DatasetRecord:
    """The record of one named data set.

    Args:
        nodes: Number of nodes. This number and the next three are checked when the data set is loaded, unless
            they are None.
        features: Number of features; 0 if features are not published with the graph.
        classes: Number of classes.
        edges: Number of undirected edges without self-loops.
        splits: Name of a split -> its files, or no files if the split comes with the graph or is drawn. The
            first split is the default.
        citations: Papers to cite.
        files: Files of the graph, in the order of the arguments of `read`.
        read: Reader that makes the graph from the contents of the files; None if the data set does not come
            from files of the data folder.
        directed: Whether the files list directions that `load(directed=True)` can keep.
        attacks: Attacked versions of the graph.
        defects: What is known to be wrong or easy to misread.
        licence: Terms of use, if they are stated.
        make: Function of a plug-in that returns the whole graph; None for built-in data sets.
    """

    nodes: int | None
    features: int | None
    classes: int | None
    edges: int | None
    splits: Mapping[str, tuple[str, ...]]
    citations: tuple[str, ...]
    files: tuple[str, ...] = ()
    read: Callable[..., RawGraph] | None = None
    directed: bool = False
    attacks: Mapping[str, PublishedAttack] = field(default_factory=dict)
    defects: tuple[str, ...] = ()
    licence: str = "not stated with the files"
    make: Maker | None = None

    @property
    def default_split(self) -> str:
        """Name of the usual split."""
        return next(iter(self.splits))

    @property
    def all_files(self) -> tuple[str, ...]:
        """Files of the graph, of its splits and of its attacked versions."""
        found = list(self.files) + [file for files in self.splits.values() for file in files]
        for attack in self.attacks.values():
            found += [*attack.files.values(), *([attack.targets] if attack.targets else [])]
        return tuple(dict.fromkeys(found))


def as_record(name: str, make: Any) -> DatasetRecord:
    """Return the record of a plug-in's data set, whose sizes are known when it is loaded."""
    if not callable(make) or isinstance(make, Data):  # a Data can be called, too
        raise TypeError(f"register: data set {name!r} must be a function () -> Data, got {make!r}.")
    return DatasetRecord(
        nodes=None,
        features=None,
        classes=None,
        edges=None,
        splits={"own": (), "random": ()},
        citations=(),
        licence="not stated by the plug-in",
        make=make,
    )
