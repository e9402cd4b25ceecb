"""One way to a graph for every command: a named data set (attacked or made noisy), or the user's tables."""

from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc.cli._output import say
from gadc.cli._own_graph import OwnGraph

if TYPE_CHECKING:
    import polars as pl
    from scipy import sparse
    from torch import Tensor
    from torch_geometric.data import Data

_UNLIKE = 100.0  # ratio of the deviations of two features that deserves a word

_option = partial(typer.Option, rich_help_panel="A named data set, and noise on purpose")


@dataclass(frozen=True, kw_only=True)
class GraphInput(OwnGraph):
    """What a user said about where the graph comes from."""

    data: Annotated[str | None, _option("--data", help="Name of a data set; see `gadc data list`.")] = None
    data_dir: Annotated[
        Path | None, _option("--data-dir", help="Folder with raw files; the default is GADC_DATA.")
    ] = None
    split: Annotated[
        str | None,
        _option(
            "--split", help="Split of the data set, such as random; geom-gcn:3 is the fourth of several."
        ),
    ] = None
    attack: Annotated[str | None, _option("--attack", help="Published attack, such as metattack.")] = None
    rate: Annotated[float | None, _option("--rate", help="Rate of the attack.")] = None
    noise: Annotated[
        str | None, _option("--noise", help="Noise to add, such as gaussian-noise or edge-addition.")
    ] = None
    level: Annotated[float | None, _option("--level", help="Level, probability or rate of the noise.")] = None
    standardize: Annotated[
        bool, typer.Option("--standardize", help="Bring every feature to mean 0 and deviation 1 first.")
    ] = False
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")] = 0

    @property
    def title(self) -> str:
        """What the graph is called in headings."""
        return str(self.data or self.graph or self.nodes)

    def read(self) -> "Data":
        """The graph, with features and with the noise that was asked for."""
        if (self.data is not None) == self.is_given:
            raise ValueError(
                "give --data NAME, or a graph of your own with --edges and --nodes (or --graph)."
            )
        data = super().read() if self.data is None else self._load(self.data)
        if data.x is None:
            raise ValueError(f"{self.title}: there are no features; name numeric columns with --features.")
        data = self._add_noise(data)
        return _standardized(data) if self.standardize else data

    def _load(self, name: str) -> "Data":
        from gadc.datasets import load

        split, seed = split_and_seed(self.split)
        return load(name, root=self.data_dir, split=split, seed=seed, attack=self.attack, rate=self.rate)

    def _add_noise(self, data: "Data") -> "Data":
        from gadc._base.validation import check_choice
        from gadc.transforms import NOISES, make_noise

        if self.data is None and (self.split, self.attack, self.rate) != (None, None, None):
            raise ValueError("--split, --attack and --rate belong to a named data set (--data).")
        if (self.noise is None) != (self.level is None):
            raise ValueError("--noise and --level go together.")
        if self.noise is None:
            return data
        kind: Any = NOISES[check_choice("--noise", self.noise, "its kind", tuple(NOISES))]
        (setting,) = (field.name for field in fields(kind) if field.name != "seed")
        return make_noise(self.noise, seed=self.seed, **{setting: self.level})(data)


def split_and_seed(text: str | None) -> tuple[str | None, int | None]:
    """Name and number of a split; apart from --seed, so that `fit` and `evaluate` cannot differ by it."""
    name, colon, number = (text or "").partition(":")
    if colon and not (name and number.isdecimal()):
        raise ValueError(f"--split must be NAME or NAME:NUMBER, got {text!r}.")
    return name or None, int(number) if colon else None


def _standardized(data: "Data") -> "Data":
    """A copy with standardised features, called so: a model of the ones refuses the others by their names."""
    deviation = data.x.std(0, correction=0)
    changed = data.__copy__()
    changed.x = (data.x - data.x.mean(0)) / deviation.where(deviation > 0, deviation + 1)
    changed.feature_names = [f"{name} (standardised)" for name in feature_names(data)]
    return changed


def tell_notes(data: "Data") -> None:
    """Say what was decided while the user's tables were read."""
    report = data.get("table_report")
    if report is not None:
        for name, reason in report.left_out.items():
            say(f"note: column {name!r} is left out: {reason}")
        for note in report.notes:
            say(f"note: {note}")
        deviation = data.x.std(0, correction=0)
        deviation = deviation[deviation > 0]
        if len(deviation) and deviation.max() > _UNLIKE * deviation.min():
            say("note: features differ in scale, the largest will outweigh the rest; see --standardize")


def id_column(data: "Data", *, taken: tuple[str, ...] = ()) -> "pl.Series":
    """The ids of the nodes under the user's name for them, or as `id` where that name is taken."""
    import polars as pl

    report = data.get("table_report")
    name = "id" if report is None else report.columns.get("node id", "id")
    ids = data.get("node_ids")
    return pl.Series("id" if name in taken else name, range(int(data.num_nodes)) if ids is None else ids)


def feature_names(data: "Data") -> list[str]:
    """Names of the features; x0, x1, ... where they have none."""
    return data.get("feature_names") or [f"x{i}" for i in range(data.x.shape[1])]


def feature_table(data: "Data") -> Any:
    """The features as the estimators take them: a frame if they have names, else an array."""
    import polars as pl

    names = data.get("feature_names")
    array = data.x.numpy()
    return pl.from_numpy(array, schema=list(names)) if names else array


def adjacency_matrix(data: "Data") -> "sparse.csr_array":
    """The graph as the estimators take it."""
    import numpy as np
    from scipy import sparse

    n, weight = int(data.num_nodes), data.get("edge_weight")
    values = np.ones(data.num_edges) if weight is None else weight.numpy()
    rows, columns = data.edge_index.numpy()
    return sparse.csr_array((values, (rows, columns)), shape=(n, n))


def class_names(data: "Data") -> list[Any]:
    """Names of the classes as the user's table has them; whole numbers for named data sets."""
    if data.y is None:
        raise ValueError("there are no labels; name their column with --label.")
    return data.get("class_names") or list(range(int(data.y.max()) + 1))


def labels_to_fit(data: "Data") -> "Data":
    """A copy whose labels are those to train on: of a split, those of its training and validation nodes."""
    from copy import copy

    class_names(data)
    seen = copy(data)
    chosen = nodes_of(data, "train", "val")
    seen.y = data.y if chosen is None else data.y.masked_fill(~chosen, -1)
    if not (seen.y >= 0).any():
        raise ValueError("fit: no node has a label; name their column with --label.")
    for part in ("train", "val", "test"):
        seen.pop(f"{part}_mask", None)
    return seen


def without_graph(data: "Data") -> "Data":
    """A copy without edges."""
    from copy import copy

    alone = copy(data)
    alone.edge_index = alone.edge_weight = None
    return alone


def nodes_of(data: "Data", *parts: str) -> "Tensor | None":
    """The nodes in any of these parts ("train", "val", "test") of a split; None if there is no such split."""
    import torch

    masks = [data.get(f"{part}_mask") for part in parts]
    if any(mask is None or mask.shape != data.y.shape for mask in masks):
        return None
    return torch.stack(masks).any(0)
