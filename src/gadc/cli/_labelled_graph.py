"""The graph of `gadc attack` and `gadc audit`: clean, with labels and a split."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gadc.cli._graph_input import nodes_of, split_and_seed
from gadc.cli._own_graph import OwnGraph

if TYPE_CHECKING:
    from torch_geometric.data import Data

DRAWN = ("random", "adaptive")  # splits of named data sets that a seed chooses

_option = partial(typer.Option, rich_help_panel="A named data set")


@dataclass(frozen=True, kw_only=True)
class LabelledGraph(OwnGraph):
    """What a user said about where the graph and its split come from."""

    data: Annotated[str | None, _option("--data", help="Name of a data set; see `gadc data list`.")] = None
    data_dir: Annotated[
        Path | None, _option("--data-dir", help="Folder with raw files; the default is GADC_DATA.")
    ] = None
    split: Annotated[
        str | None,
        _option("--split", help="Its split, such as random (drawn by the seed) or adaptive:3, the fourth."),
    ] = None

    @property
    def title(self) -> str:
        """What the graph is called in headings."""
        return str(self.data or self.graph or self.nodes)

    def read_split(self, seed: int) -> "Data":
        """The graph with three masks; a split that is drawn is drawn by the seed."""
        if (self.data is not None) == self.is_given:
            raise ValueError(
                "give --data NAME, or a graph of your own with --edges and --nodes (or --graph)."
            )
        data = self._named(self.data, seed) if self.data is not None else self._own(seed)
        if data.x is None:
            raise ValueError(f"{self.title}: there are no features; name numeric columns with --features.")
        return data

    def _named(self, name: str, seed: int) -> "Data":
        from gadc.datasets import load

        split, number = split_and_seed(self.split)
        drawn = number is None and split in DRAWN
        return load(name, root=self.data_dir, split=split, seed=seed if drawn else number)

    def _own(self, seed: int) -> "Data":
        """Masks that come with the file, else 60/20/20 % of the labelled nodes."""
        import torch

        from gadc.datasets.named._roles import TEST, TRAIN, VAL
        from gadc.datasets.named._splits import random_split

        if self.split is not None:
            raise ValueError("--split belongs to a named data set (--data).")
        data = self.read()
        if data.y is None:
            raise ValueError("there are no labels; name their column with --label.")
        if nodes_of(data, "train", "val", "test") is None:
            role = torch.from_numpy(random_split(data.y.numpy(), seed))
            data.train_mask, data.val_mask, data.test_mask = (role == part for part in (TRAIN, VAL, TEST))
        for part in ("train", "val", "test"):
            if not bool(data[f"{part}_mask"].any()):
                raise ValueError(
                    f"{self.title}: too few labelled nodes, the {part} part of the split is empty."
                )
        return data
