"""Options for the graph of a command: a named data set, or a graph of the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc._base.deferred import deferred
from gadc._base.scalars import check_choice
from gadc.cli._graph_data import check_scales, standardize
from gadc.cli._options.names import NOISES
from gadc.cli._options.own_graph import OwnGraphOptions

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from gadc.cli._graph_data import AnyModel
    from gadc.packed import PackedGraph

with deferred():
    from gadc import datasets, transforms
    from gadc import packed as on_disk
    from gadc.datasets.tables import _scales as scales
    from gadc.packed import _graph as packed_graph


_option = partial(typer.Option, rich_help_panel="A named data set")
_noise_option = partial(typer.Option, rich_help_panel="Added noise")

_PACKED = ("graph", "seed")  # options that a packed graph goes with

Standardize = Annotated[
    bool | None,
    typer.Option(
        "--standardize/--no-standardize",
        help="Scale every feature to mean 0 and standard deviation 1; a model stores the scales. Default: "
        "columns of your tables that differ in scale are scaled by median and quartiles.",
    ),
]

DataDir = Annotated[
    Path | None, _option("--data-dir", help="Folder with the raw files. Default: the folder in GADC_DATA.")
]


@dataclass(frozen=True, kw_only=True)
class NamedOrOwnGraphOptions(OwnGraphOptions):
    """The options that choose a graph."""

    data: Annotated[str | None, _option("--data", help="Name of a data set; see `gadc data list`.")] = None
    data_dir: DataDir = None
    split: Annotated[
        str | None,
        _option(
            "--split",
            help="Training, validation and test nodes, such as random or geom-gcn:3, the fourth of several "
            "splits. Default: the usual split.",
        ),
    ] = None

    @property
    def title(self) -> str:
        """Return the name of the graph in headings."""
        return str(self.data or self.place)

    def check_source(self) -> None:
        """Refuse no graph and two graphs."""
        if (self.data is not None) == self.is_given:
            raise ValueError(
                "Use either --data NAME or a graph of your own (--edges and --nodes, or --graph)."
            )

    def standardized(self, data: Data, wanted: bool | None) -> Data:
        """Standardise features if it is wanted, or by default if columns of the user differ in scale."""
        own = self.data is None and data.get("feature_preparation") is not None
        own = own and not (
            self.graph is not None and packed_graph.is_packed(self.graph)
        )  # on disk this is not done
        if wanted is None and own and scales.differ_in_scale(data.x):
            return standardize(data, robust=True)
        return standardize(data) if wanted else data

    def check_features(self, data: Data) -> Data:
        """Refuse a graph without features."""
        if data.x is None:
            raise ValueError(f"{self.title}: there are no features; name numeric columns with --features.")
        return data


@dataclass(frozen=True, kw_only=True)
class GraphOptions(NamedOrOwnGraphOptions):
    """The options that choose a graph, attacked or with noise if requested."""

    attack: Annotated[
        str | None, _option("--attack", help="Published attack on the data set, such as metattack.")
    ] = None
    rate: Annotated[
        float | None, _option("--rate", help="Rate of the published attack, as a share of the edges.")
    ] = None
    noise: Annotated[
        str | None, _noise_option("--noise", help=f"Noise to add: {', '.join(NOISES)}. Default: none.")
    ] = None
    level: Annotated[
        float | None,
        _noise_option("--level", help="Strength of the noise: standard deviation, probability or rate."),
    ] = None
    standardize: Standardize = None
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of all random choices.")] = 0

    @property
    def packed(self) -> PackedGraph | None:
        """Open the graph if it is a packed one; other options that describe a graph are refused then."""
        return self.open_packed()

    @property
    def packed_task(self) -> str | None:
        """Return what the labels of a packed graph hold; None for other graphs."""
        if self.graph is None or not packed_graph.is_packed(self.graph):
            return None
        return on_disk.PackedGraph(self.graph).task

    def open_packed(self, *allowed: str) -> PackedGraph | None:
        """Open the graph if it is a packed one, see `packed`.

        Args:
            *allowed: Names of further options that the command applies to a packed graph.
        """
        if self.graph is None or not packed_graph.is_packed(self.graph):
            return None
        default = {one.name: one.default for one in fields(self)}
        kept = (*_PACKED, *allowed)
        others = {name: value != default[name] for name, value in vars(self).items() if name not in kept}
        refuse_for_packed({f"--{name.replace('_', '-')}": given for name, given in others.items()})
        return on_disk.PackedGraph(self.graph)

    def read(self, *, keep_rows: bool = False, keep_sparse: bool = False, task: str = "classify") -> Data:
        """Read the graph, add the requested noise and standardise the features if requested.

        Args:
            keep_rows: Whether the rows of the user's tables are kept. Default: no.
            keep_sparse: Whether features of a named data set that are mostly zero stay sparse, unless noise
                or scales would fill them. Default: no.
            task: What the label columns hold, see `from_tables`. Default: "classify".
        """
        self.check_source()
        self._check_task(task)
        sparse = keep_sparse and self.noise is None and not self.standardize
        own = self.data is None
        data = self.read_own(keep_rows=keep_rows, task=task) if own else self._load(str(self.data), sparse)
        data = self._add_noise(self.check_features(data))
        return self.standardized(data, self.standardize)

    def _check_task(self, task: str) -> None:
        if task != "classify" and self.data is not None:
            raise ValueError(
                f"--task {task} requires tables (--edges and --nodes); named data sets have classes."
            )

    def read_for(
        self,
        model: AnyModel,
        *,
        keep_rows: bool = False,
        task: str = "classify",
        labels: Sequence[str] = (),
    ) -> Data:
        """Read the graph and compute its features as they were computed when the model was fitted."""
        self.check_source()
        self._check_task(task)
        if self.signed and not model.signed:
            raise ValueError("--signed: the model was not fitted with it; leave it out.")
        if model.signed and self.has_edge_table and not self.signed:
            return replace(self, signed=True).read_for(model, keep_rows=keep_rows, task=task, labels=labels)
        if self.directed and not model.directed:
            raise ValueError("--directed: the model was fitted without it; leave it out.")
        known = check_scales(model)
        if known is None:
            if self.standardize:
                raise ValueError("--standardize: the model was not fitted with it; leave it out.")
            return replace(self, standardize=False, directed=model.directed).read(
                keep_rows=keep_rows, task=task
            )
        options: dict[str, Any] = {"categorical": self.categorical, "missing": self.missing}
        options |= {"features": self.feature_columns, "standardize": self.standardize}
        known.check_agrees("model", **options, exclude=self.excluded_columns)
        raw = known.without_scales()
        told: dict[str, Any] = {"keep_rows": keep_rows, "task": task, "labels": labels}
        own = replace(self, directed=model.directed)
        data = own.read_own(raw, **told) if self.data is None else self._load(self.data)
        return known.apply(self._add_noise(self.check_features(data)))

    def _load(self, name: str, sparse: bool = False) -> Data:
        split, seed = split_and_seed(self.split)
        return datasets.load(
            name,
            root=self.data_dir,
            split=split,
            seed=seed,
            attack=self.attack,
            rate=self.rate,
            sparse_features=sparse,
        )

    def _add_noise(self, data: Data) -> Data:
        if self.data is None and (self.split, self.attack, self.rate) != (None, None, None):
            raise ValueError("--split, --attack and --rate require a named data set (--data).")
        if (self.noise is None) != (self.level is None):
            raise ValueError("Use --noise and --level together.")
        if self.noise is None:
            return data
        kind: Any = transforms.NOISES[
            check_choice("--noise", self.noise, "the noise", tuple(transforms.NOISES))
        ]
        (setting,) = (field.name for field in fields(kind) if field.name != "seed")
        return transforms.make_noise(self.noise, seed=self.seed, **{setting: self.level})(data)


def refuse_for_packed(given: dict[str, bool]) -> None:
    """Refuse options that have no effect on a packed graph, by their names."""
    wrong = [name for name, is_given in given.items() if is_given]
    if wrong:
        raise ValueError(
            f"{wrong[0]} cannot be used with a packed graph; give it to gadc pack, or use tables."
        )


def split_and_seed(text: str | None) -> tuple[str | None, int | None]:
    """Parse NAME or NAME:NUMBER; --seed has no part in it, so `fit` and `evaluate` use the same split."""
    name, colon, number = (text or "").partition(":")
    if colon and not (name and number.isdecimal()):
        raise ValueError(f"--split must be NAME or NAME:NUMBER, got {text!r}.")
    return name or None, int(number) if colon else None
