"""How columns of a table become features, decided once and applied to every later table.

Categories, fill values and scales are properties of the table that a model was fitted on. Computed again from
the table at hand, they would give the same node other features as soon as other rows stand beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gadc._base.deferred import deferred
from gadc._base.scalars import check_choice
from gadc.datasets.tables._problems import check_repair
from gadc.datasets.tables._scales import by_block, is_binary, mean_scales, robust_scales
from gadc.datasets.tables._times import TimeWindow
from gadc.datasets.tables._weights import WeightScale

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Data

with deferred():
    import torch


_SCALED = " (standardised)"
CATEGORICAL = ("skip", "onehot", "auto")
_SCALARS = ("name", "start", "other", "compress")
_CHOICES = {"categorical": CATEGORICAL, "missing": ("error", "mean", "zero")}


@dataclass(frozen=True, kw_only=True)
class FeatureColumn:
    """How one column of a table becomes one or more columns of `x`.

    Args:
        name: Name of the column in the table.
        categories: Values of a text column in the order of the columns of `x`. Default: None, a number.
        fill: What an empty cell becomes, one number per column of `x`. Default: None, an error.
        mean: What is subtracted from each column of `x`. Default: None, the column is not standardised.
        deviation: What each column of `x` is divided by after that. Default: None.
        start: First date of a column of dates, which become days since then and days of the week. Default:
            None, not dates.
        other: Whether text that is not among the categories has a column of `x` of its own, the last.
            Default: no.
        compress: Whether asinh compresses the standardised column, because of a heavy tail. Default: no.
    """

    name: str
    categories: tuple[str, ...] | None = None
    fill: tuple[float, ...] | None = None
    mean: tuple[float, ...] | None = None
    deviation: tuple[float, ...] | None = None
    start: str | None = None
    other: bool = False
    compress: bool = False

    @property
    def raw_names(self) -> list[str]:
        """Names of the columns of `x` before standardisation."""
        if self.start is not None:
            return [f"{self.name} (days)", f"{self.name} (weekday)"]
        if self.categories is None:
            return [self.name]
        names = [f"{self.name}={value}" for value in self.categories]
        return [*names, f"{self.name} (other)"] if self.other else names

    def check(self) -> None:
        """Refuse values that do not fit together, such as those of a damaged file."""
        if not isinstance(self.name, str) or not all(isinstance(one, str) for one in self.categories or ()):
            raise ValueError(
                f"FeatureColumn: name and categories must be text, got {self.name!r} and {self.categories!r}."
            )
        if type(self.other) is not bool or type(self.compress) is not bool:
            raise ValueError(f"FeatureColumn: other and compress of {self.name!r} must be true or false.")
        if self.start is not None:
            _check_date(self.start)
        width = len(self.raw_names)
        for key in ("fill", "mean", "deviation"):
            values = getattr(self, key)
            if values is not None and (len(values) != width or not all(map(_is_finite, values))):
                raise ValueError(
                    f"FeatureColumn: {key} of {self.name!r} must be {width} finite numbers, got {values}."
                )
        if (self.mean is None) != (self.deviation is None) or min(self.deviation or (1,)) <= 0:
            raise ValueError(
                f"FeatureColumn: {self.name!r} must have a mean and deviations > 0, or neither, "
                f"got {self.mean} and {self.deviation}."
            )


@dataclass(frozen=True, kw_only=True)
class FeaturePreparation:
    """Columns, categories, fill values and scales by which features are computed from a table.

    `from_tables` stores it as `data.feature_preparation`, and a classifier that is fitted on this graph keeps
    it. `from_tables(..., preparation=...)` reads another table in the same way: other columns are ignored,
    the order of columns does not matter, and a category that was not seen is encoded as zeros.

    Args:
        columns: The columns, in the order of `x`.
        categorical: What was done with text columns. Default: "skip".
        missing: What was done with empty cells. Default: "error".
        roles: Columns by what they were read as: source, target and so on. Default: not known.
        weight_scale: How edge weights are compressed. Default: None, not at all.
        repair: Kinds of problems of tables that are repaired. Default: none.
        window: Which edges are read by their time. Default: all.
        exclude: Columns that were excluded from the features. Default: none.

    Examples:
        >>> import polars as pl
        >>> from gadc.datasets import from_tables
        >>> edges = pl.DataFrame({"source": [1], "target": [2]})
        >>> nodes = pl.DataFrame({"id": [1, 2], "age": [31, 27], "pet": ["cat", "dog"]})
        >>> known = from_tables(edges, nodes, categorical="onehot").feature_preparation
        >>> known.names
        ['age', 'pet=cat', 'pet=dog']
        >>> other = pl.DataFrame({"pet": ["dog"], "id": [7], "size": [3], "age": [50]})
        >>> from_tables(edges.clear(), other, node_id="id", preparation=known).x
        tensor([[50.,  0.,  1.]])
    """

    columns: tuple[FeatureColumn, ...]
    categorical: str = "skip"
    missing: str = "error"
    roles: dict[str, str] = field(default_factory=dict)
    weight_scale: WeightScale | None = None
    repair: tuple[str, ...] = ()
    window: TimeWindow | None = None
    exclude: tuple[str, ...] = ()

    @classmethod
    def of_matrix(cls, names: Sequence[str]) -> FeaturePreparation:
        """Describe features that do not come from a table; nothing is done to them."""
        return cls(columns=tuple(FeatureColumn(name=str(name)) for name in names))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> FeaturePreparation:
        """Return the preparation that `to_dict` described; a ValueError says what is wrong with it."""
        known = {one.name for one in fields(FeatureColumn)}
        entries = values.get("columns") if isinstance(values, Mapping) else None
        if not isinstance(entries, list | tuple) or not all(
            isinstance(entry, Mapping) and "name" in entry and set(entry) <= known for entry in entries
        ):
            raise ValueError(
                "FeaturePreparation: columns must be a list of columns, each with a name, "
                f"got {str(values)[:60]!r}."
            )
        columns = []
        for entry in entries:
            kept: dict[str, Any] = {
                key: value if key in _SCALARS else _tuple(key, value) for key, value in entry.items()
            }
            columns.append(FeatureColumn(**kept))
            columns[-1].check()
        chosen: dict[str, Any] = {
            key: check_choice("FeaturePreparation", values.get(key, ""), key, _CHOICES[key])
            for key in _CHOICES
        }
        roles, weights = values.get("roles", {}), values.get("weight_scale")
        if not isinstance(roles, Mapping) or not all(
            isinstance(one, str) for one in (*roles, *roles.values())
        ):
            raise ValueError(f"FeaturePreparation: roles must map text to text, got {str(roles)[:60]!r}.")
        scale = None if weights is None else WeightScale.from_dict(weights)
        repair = check_repair("FeaturePreparation", _tuple("repair", values.get("repair", ())) or ())
        more: dict[str, Any] = {"roles": dict(roles), "weight_scale": scale, "repair": tuple(sorted(repair))}
        if (window := values.get("window")) is not None:
            more["window"] = TimeWindow.from_dict(window)
        more["exclude"] = tuple(map(str, _tuple("exclude", values.get("exclude")) or ()))
        return cls(columns=tuple(columns), **chosen, **more)

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists and numbers that JSON can hold."""
        return asdict(self)

    def __str__(self) -> str:
        return f"FeaturePreparation({len(self.columns)} columns)"  # short: the repr of Data shows it

    @property
    def is_standardized(self) -> bool:
        """Whether features are brought to mean 0 and standard deviation 1."""
        return any(column.mean is not None for column in self.columns)

    @property
    def raw_names(self) -> list[str]:
        """Names of the columns of `x` before standardisation."""
        return [name for column in self.columns for name in column.raw_names]

    @property
    def names(self) -> list[str]:
        """Names of the columns of `x`; a standardised column says so, so that no model confuses the two."""
        return [
            name if column.mean is None else name + _SCALED
            for column in self.columns
            for name in column.raw_names
        ]

    def check_agrees(self, owner: str, *, exclude: Sequence[str] = (), **given: Any) -> None:
        """Refuse a setting that contradicts the stored one.

        Args:
            owner: Function or command that the error names.
            exclude: Columns that are not features; none by default.
            given: `features` (column names), `categorical`, `missing`, `standardize` or `weight_scale`; None
                was not given.
        """
        known: dict[str, Any] = {
            "features": sorted(column.name for column in self.columns),
            "categorical": self.categorical,
            "missing": self.missing,
            "standardize": self.is_standardized,
            "weight_scale": "none" if self.weight_scale is None else self.weight_scale.kind,
        }
        read = [name for name in exclude if name in known["features"]]
        if read:
            raise ValueError(
                f"{owner}: exclude must not name a column that the preparation reads, got {read[0]!r}."
            )
        for name, value in given.items():
            if value is None or (sorted(value) if name == "features" else value) == known[name]:
                continue
            raise ValueError(
                f"{owner}: {name} must be {known[name]!r}, as in the table that the preparation was fitted "
                f"on, got {value!r}; leave it out."
            )

    def with_scales(self, x: Tensor, *, robust: bool = False) -> FeaturePreparation:
        """Return the preparation that standardises features like `x`, given before standardisation.

        A constant feature becomes 0 and keeps its unit.

        Args:
            x: Features.
            robust: Whether features are measured by median and quartiles, compressed where they have a heavy
                tail, and left alone where they are 0 or 1. Default: no, all by mean and deviation.
        """
        if not robust:
            scales = mean_scales(x)
            return self.with_known_scales(scales.centre, scales.unit)
        scales, alone = robust_scales(x), is_binary(x).tolist()
        columns, start = [], 0
        for column in self.columns:
            part = slice(start, start := start + len(column.raw_names))
            if all(alone[part]):
                columns.append(replace(column, mean=None, deviation=None, compress=False))
                continue
            mean, deviation = tuple(scales.centre[part]), tuple(scales.unit[part])
            compress = len(column.raw_names) == 1 and scales.compress[part][0]
            columns.append(replace(column, mean=mean, deviation=deviation, compress=compress))
        return replace(self, columns=tuple(columns))

    def with_known_scales(self, means: Sequence[float], deviations: Sequence[float]) -> FeaturePreparation:
        """Return the preparation that standardises features by these means and deviations, in their order."""
        columns, start = [], 0
        for column in self.columns:
            part = slice(start, start := start + len(column.raw_names))
            scales = {"mean": tuple(means[part]), "deviation": tuple(deviations[part])}
            columns.append(replace(column, **scales, compress=False))  # type: ignore[arg-type]
        return replace(self, columns=tuple(columns))

    def without_scales(self) -> FeaturePreparation:
        """Return the preparation that leaves features in the units of the table."""
        columns = (replace(column, mean=None, deviation=None, compress=False) for column in self.columns)
        return replace(self, columns=tuple(columns))

    def scale(self, x: Tensor) -> Tensor:
        """Standardise features if this preparation does so."""
        if not self.is_standardized:
            return x
        (mean, deviation), compress = self.scales(), self._compressed()

        def change(part: Tensor, where: slice) -> Tensor:
            scaled = (part - mean[where]) / deviation[where]
            return torch.where(compress[where], scaled.asinh(), scaled)

        return by_block(x, change)

    def unscale(self, x: Tensor) -> Tensor:
        """Return standardised features in the units of the table."""
        if not self.is_standardized:
            return x
        (mean, deviation), compress = self.scales(), self._compressed()

        def change(part: Tensor, where: slice) -> Tensor:
            return torch.where(compress[where], part.sinh(), part) * deviation[where] + mean[where]

        return by_block(x, change)

    def apply(self, data: Data) -> Data:
        """Return a copy of a graph with these features, taken by name from its features and standardised.

        Features without names are taken as they stand. Other features are left out.
        """
        expected, given = self.raw_names, list(data.get("feature_names") or ())
        if given:
            missing = [repr(name) for name in expected if name not in given]
            if missing:
                some = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
                raise ValueError(
                    f"FeaturePreparation: data must have the {len(expected)} features of fit, "
                    f"got missing {some}."
                )
            x = data.x if given == expected else data.x[:, [given.index(name) for name in expected]]
        elif data.x.shape[1] == len(expected):
            x = data.x
        else:
            raise ValueError(
                f"FeaturePreparation: data must have {len(expected)} features, got {data.x.shape[1]}."
            )
        changed = copy(data)
        changed.x, changed.feature_names, changed.feature_preparation = self.scale(x), self.names, self
        return changed

    def scales(self) -> tuple[Tensor, Tensor]:
        """Return what is subtracted from and what divides each column of `x`."""
        pairs = []
        for column in self.columns:
            width = len(column.raw_names)
            means, deviations = column.mean or [0.0] * width, column.deviation or [1.0] * width
            pairs += list(zip(means, deviations, strict=True))
        mean, deviation = torch.tensor(pairs, dtype=torch.float64).T
        return mean, deviation

    def _compressed(self) -> Tensor:
        """Return which columns of `x` asinh compresses."""
        return torch.tensor([column.compress for column in self.columns for _ in column.raw_names])


def _check_date(text: Any) -> None:
    try:
        np.datetime64(text, "us").astype(np.int64)
    except (TypeError, ValueError):
        raise ValueError(f"FeatureColumn: start must be a date, got {str(text)[:60]!r}.") from None


def _tuple(key: str, values: Any) -> tuple[Any, ...] | None:
    if values is not None and not isinstance(values, list | tuple):
        raise ValueError(f"FeatureColumn: {key} must be a list, got {str(values)[:60]!r}.")
    return None if values is None else tuple(values)


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max  # also of a huge whole number
