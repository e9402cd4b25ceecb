"""What is on record about one named data set."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gadc.datasets.named._published_attacks import PublishedAttack
from gadc.datasets.named._raw_graph import RawGraph


@dataclass(frozen=True, kw_only=True)
class DatasetRecord:
    """One named data set.

    Args:
        nodes: Number of nodes, checked at load time as are the next three.
        features: Number of features, 0 where they are not published with the graph.
        classes: Number of classes.
        edges: Number of undirected edges without self-loops; None = not on record, not checked.
        splits: Name of a split -> its files, none if it comes with the graph or is drawn. Default: the first.
        citations: Papers to cite.
        files: Files of the graph, in the order `read` takes their contents.
        read: Makes the graph; None for a set that is not made from files of the data folder.
        directed: Whether the files list directions that `load(directed=True)` may keep.
        attacks: Published attacked graphs.
        defects: What is known to be wrong or easily misread.
        licence: Terms, where they are stated.
    """

    nodes: int
    features: int
    classes: int
    edges: int | None
    splits: Mapping[str, tuple[str, ...]]
    citations: tuple[str, ...]
    files: tuple[str, ...] = ()
    read: Callable[..., RawGraph] | None = None
    directed: bool = False
    attacks: Mapping[str, PublishedAttack] = field(default_factory=dict)
    defects: tuple[str, ...] = ()
    licence: str = "not stated with the files"

    @property
    def all_files(self) -> tuple[str, ...]:
        """Files of the graph, of its splits and of its attacked versions."""
        found = list(self.files) + [file for files in self.splits.values() for file in files]
        for attack in self.attacks.values():
            found += [*attack.files.values(), *([attack.targets] if attack.targets else [])]
        return tuple(dict.fromkeys(found))
