"""Runs under an attack: flips found through the trained defence or a surrogate, then evasion or poisoning.

    evasion      the weights trained on the clean graph are tested on the attacked one
    poisoning    the model is trained again, on the attacked graph

Both kinds of a row and split share one trained model and its flips; a process finds them once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.validation import check_choice
from gadc.experiments._results import derive_seed, fingerprint
from gadc.experiments._spec import Column, Row
from gadc.models import Fitted, Model, make_model
from gadc.models._training.callbacks import Callback
from gadc.robustness.attacks import Flips, Scores, make_attack

DEFENCE = "defence"
KEPT = 64  # models and flips a process keeps: both are small

Kept = TypeVar("Kept")
_kept: dict[str, Any] = {}


@dataclass(frozen=True)
class Outcome:
    """What a model says of the attacked graph.

    Attributes:
        fitted: The model that is tested.
        logits: Its scores of all nodes of the attacked graph.
        before: Those that the model trained on the clean graph has there.
    """

    fitted: Fitted
    logits: Tensor
    before: Tensor


def under_attack(
    table: str,
    row: Row,
    column: Column,
    run: int,
    data: Data,
    seed: int,
    *,
    callbacks: Sequence[Callback] = (),
) -> Outcome:
    """Train, attack, and test as the column says.

    Args:
        table: Name of the table; like the next three it decides the seeds.
        row: The defence.
        column: A column with an attack: its `name`, `budget` and settings; `when` is "evasion" or
            "poisoning"; `through` is "defence", or the `model` and settings of a surrogate.
        run: Number of the run.
        data: The clean graph.
        seed: Of the training on the attacked graph.
        callbacks: Called in each training, see `Model.fit`.
    """
    when = column.attack["when"]
    check_choice(f"column {column.name!r}", when, "attack.when", ("evasion", "poisoning"))
    attacked = attacked_settings(row, column)
    attack = {**column.attack, **attacked.pop("attack", {})}
    del attack["when"]
    graph = _checksum(data)
    settings = {"model": row.model, **row.settings_in(column.name)}
    first = derive_seed(table, row.name, "clean", run)
    clean = _once(
        [settings, graph, first], lambda: _make(settings).fit(data, seed=first, callbacks=callbacks)
    )

    def own_flips() -> Flips:
        scores = _scores({**settings, **attacked}, clean, data) if attacked else clean.scores
        return _find(attack, scores, data, derive_seed(table, row.name, "attack", run))

    def surrogate_flips() -> Flips:
        seed = derive_seed(table, "surrogate", run)
        scores = _make(attack["through"]).fit(data, seed=seed, callbacks=callbacks).scores
        return _find(attack, scores, data, derive_seed(table, "attack", run))

    if attack["through"] == DEFENCE or attacked:
        flips = _once([settings, graph, first, attack, attacked], own_flips)
    else:
        flips = _once([table, graph, run, attack], surrogate_flips)
    changed = flips.apply(data)
    if when == "poisoning":
        fitted = _make(settings).fit(changed, seed=seed, callbacks=callbacks)
        return Outcome(fitted, fitted.logits, clean.logits)
    with torch.no_grad():
        logits = clean.scores(changed.x, changed.edge_index, changed.edge_weight)
    return Outcome(clean, logits, clean.logits)


def attacked_settings(row: Row, column: Column) -> dict[str, Any]:
    """What differs in the row's own model while it is attacked in that column."""
    return dict(row.attacked.get(DEFENCE if column.attack["through"] == DEFENCE else "transfer", {}))


def _make(settings: Mapping[str, Any]) -> Model:
    return make_model(**{("name" if key == "model" else key): value for key, value in settings.items()})


def _scores(settings: Mapping[str, Any], fitted: Fitted, data: Data) -> Scores:
    """The scores that the trained weights have in a model with other settings."""
    twin = _make({**settings, "epochs": 1}).fit(data)
    twin.module.load_state_dict(fitted.module.state_dict())
    return twin.scores


def _find(attack: Mapping[str, Any], scores: Scores, data: Data, seed: int) -> Flips:
    settings = {name: value for name, value in attack.items() if name not in ("through", "budget")}
    nodes = torch.nonzero(data.test_mask).flatten()
    return make_attack(**settings)(scores, data, nodes=nodes, budget=attack["budget"], seed=seed)


def _once(key: Any, make: Callable[[], Kept]) -> Kept:
    """What was made under that key; the oldest goes where there is too much."""
    name = fingerprint(key)
    if name not in _kept:
        while len(_kept) >= KEPT:
            del _kept[next(iter(_kept))]
        _kept[name] = make()
    return cast("Kept", _kept[name])


def _checksum(data: Data) -> str:
    """All that a run takes from the data."""
    digest = hashlib.sha256()
    for name in ("x", "edge_index", "edge_weight", "y", "train_mask", "val_mask", "test_mask"):
        tensor = data.get(name)
        if tensor is not None:
            digest.update(tensor.contiguous().numpy())
    return digest.hexdigest()
