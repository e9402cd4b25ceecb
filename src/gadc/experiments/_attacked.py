"""Runs under an attack: flips found through the trained defence or a surrogate, then evasion or poisoning.

    evasion      the weights trained on the clean graph are tested on the attacked graph
    poisoning    the model is trained again, on the attacked graph

Both kinds of a row and split share one trained model and its flips; a process finds them once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.scalars import check_choice
from gadc.experiments._fingerprint import derive_seed, fingerprint
from gadc.experiments._spec import Cell
from gadc.models import Fitted, Model, make_model
from gadc.models._training.callbacks import Callback
from gadc.robustness.attacks import Flips, Scores, make_attack
from gadc.robustness.attacks._storage import graph_checksum

DEFENCE = "defence"
KEPT = 64  # models and flips that a process keeps: both are small

Kept = TypeVar("Kept")
_kept: dict[str, Any] = {}


@dataclass(frozen=True)
class Outcome:
    """The predictions of a model on the attacked graph.

    Attributes:
        fitted: The model that is tested.
        logits: Its scores of all nodes of the attacked graph.
        before: Scores of the model trained on the clean graph, on the clean graph.
    """

    fitted: Fitted
    logits: Tensor
    before: Tensor


def under_attack(cell: Cell, run: int, data: Data, callbacks: Sequence[Callback] = ()) -> Outcome:
    """Train, attack and test the row of a cell as its column says.

    Args:
        cell: The row is the defence. The column has an attack with its `name`, `budget` and settings; `when`
            is "evasion" or "poisoning"; `through` is "defence", or the `model` and settings of a surrogate.
        run: Number of the run.
        data: The clean graph.
        callbacks: Called in each training, see `Model.fit`; none by default.
    """
    when = cell.column.attack["when"]
    check_choice(f"column {cell.column.name!r}", when, "attack.when", ("evasion", "poisoning"))
    settings = {"model": cell.row.model, **cell.settings}
    seed = derive_seed(cell.table.name, cell.row.name, "clean", run)
    key = [settings, graph_checksum(data), seed]
    clean = _once(key, lambda: _make(settings).fit(data, seed=seed, callbacks=callbacks))
    changed = _flips(cell, run, data, clean, key, callbacks).apply(data)
    if when == "poisoning":
        fitted = _make(settings).fit(changed, seed=cell.seed(run), callbacks=callbacks)
        return Outcome(fitted, fitted.logits, clean.logits)
    with torch.no_grad():
        logits = clean.scores(changed.x, changed.edge_index, changed.edge_weight)
    return Outcome(clean, logits, clean.logits)


def attacked_settings(cell: Cell) -> dict[str, Any]:
    """Return what differs in the row's own model while it is attacked in this cell."""
    kind = DEFENCE if cell.column.attack["through"] == DEFENCE else "transfer"
    return dict(cell.row.attacked.get(kind, {}))


def _flips(
    cell: Cell, run: int, data: Data, clean: Fitted, key: Sequence[Any], callbacks: Sequence[Callback]
) -> Flips:
    """Find the flips through the defence or through the surrogate, once per process.

    Args:
        cell: The defence and the attack.
        run: Number of the run.
        data: The clean graph.
        clean: The defence trained on it.
        key: Settings of the defence, checksum of the graph and seed of the training.
        callbacks: Called in the training of the surrogate.
    """
    table, row = cell.table.name, cell.row.name
    settings, graph, _ = key
    attacked = attacked_settings(cell)
    attack = {**cell.column.attack, **attacked.pop("attack", {})}
    del attack["when"]

    def through_defence() -> Flips:
        scores = _scores({**settings, **attacked}, clean, data) if attacked else clean.scores
        return _find(attack, scores, data, derive_seed(table, row, "attack", run))

    def through_surrogate() -> Flips:
        seed = derive_seed(table, "surrogate", run)
        surrogate = _make(attack["through"]).fit(data, seed=seed, callbacks=callbacks)
        return _find(attack, surrogate.scores, data, derive_seed(table, "attack", run))

    if attack["through"] == DEFENCE or attacked:
        return _once([*key, attack, attacked], through_defence)
    return _once([table, graph, run, attack], through_surrogate)


def _make(settings: Mapping[str, Any]) -> Model:
    return make_model(**{("name" if key == "model" else key): value for key, value in settings.items()})


def _scores(settings: Mapping[str, Any], fitted: Fitted, data: Data) -> Scores:
    """Return the scores that the trained weights have in a model with other settings."""
    twin = _make({**settings, "epochs": 1}).fit(data)
    twin.module.load_state_dict(fitted.module.state_dict())
    return twin.scores


def _find(attack: Mapping[str, Any], scores: Scores, data: Data, seed: int) -> Flips:
    settings = {name: value for name, value in attack.items() if name not in ("through", "budget")}
    nodes = torch.nonzero(data.test_mask).flatten()
    return make_attack(**settings)(scores, data, nodes=nodes, budget=attack["budget"], seed=seed)


def _once(key: Any, make: Callable[[], Kept]) -> Kept:
    """Make something once per key and process; the oldest is dropped when too much is kept."""
    name = fingerprint(key)
    if name not in _kept:
        while len(_kept) >= KEPT:
            del _kept[next(iter(_kept))]
        _kept[name] = make()
    return cast("Kept", _kept[name])
