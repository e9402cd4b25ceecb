"""Options for the graph of `gadc attack` and `gadc audit`: clean, with labels and a split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gadc._base.deferred import deferred
from gadc.cli._graph_data import check_labels, nodes_in
from gadc.cli._options.graph import NamedOrOwnGraphOptions, Standardize, split_and_seed

if TYPE_CHECKING:
    from torch_geometric.data import Data

with deferred():
    import torch

    from gadc import datasets
    from gadc.datasets.named import _roles as roles
    from gadc.datasets.named import _splits as splits


DRAWN = ("random", "adaptive")  # splits of named data sets that a seed chooses
_PARTS = ("train", "val", "test")


@dataclass(frozen=True, kw_only=True)
class SplitGraphOptions(NamedOrOwnGraphOptions):
    """The options that choose a graph with labels and a split."""

    standardize: Standardize = None

    def read_split(self, seed: int) -> Data:
        """Read the graph with its three masks; a random split is drawn by the seed."""
        self.check_source()
        self.refuse_signs("attacks and audits", "they add and remove edges of weight 1")
        if self.directed:
            raise ValueError("--directed: attacks and audits change undirected edges; leave it out.")
        data = self._read_named(self.data, seed) if self.data is not None else self._read_own_split(seed)
        data = self.check_features(data)
        return self.standardized(data, self.standardize)

    def _read_named(self, name: str, seed: int) -> Data:
        split, number = split_and_seed(self.split)
        drawn = number is None and split in DRAWN
        return datasets.load(name, root=self.data_dir, split=split, seed=seed if drawn else number)

    def _read_own_split(self, seed: int) -> Data:
        """Use the masks that come with the file, or else draw 60/20/20 % of the labelled nodes."""
        if self.split is not None:
            raise ValueError("--split requires a named data set (--data).")
        data = check_labels(self.read_own())
        if nodes_in(data, *_PARTS) is None:
            role = torch.from_numpy(splits.random_split(data.y.numpy(), seed))
            data.train_mask, data.val_mask, data.test_mask = (
                role == part for part in (roles.TRAIN, roles.VAL, roles.TEST)
            )
        for part in _PARTS:
            if not bool(data[f"{part}_mask"].any()):
                raise ValueError(
                    f"{self.title}: there are too few labelled nodes, the {part} part of the split is empty."
                )
        return data
