"""Runs under an attack: through the defence or a surrogate, evasion or poisoning, each attack run once."""

from dataclasses import replace

import pytest
import torch

from gadc.experiments import Cell, Column, Row, load_table, prepare, run_once
from gadc.experiments import _attacked as module
from gadc.experiments import _run as run_module
from gadc.experiments._attacked import attacked_settings, under_attack
from gadc.experiments._fingerprint import fingerprint
from gadc.experiments._run import settings_of
from gadc.experiments._tables import parse_table
from gadc.models import GCNSVD, MODELS
from gadc.robustness.attacks import PGD

SURROGATE = {"model": "gcn", "activation": "none", "hidden": 4, "epochs": 20, "selection": "last"}
ATTACK = {"name": "pgd", "num_steps": 8, "num_samples": 3, "budget": 6}
TRAINING = {"epochs": 20, "selection": "last", "lr": 0.1}
IV = {"variant": "IV", "series": "last", "num_steps": 2, "self_loops": 1.0, **TRAINING}


def _column(when="evasion", through="defence", **attack) -> Column:
    data = {"generator": "csbm", "num_nodes": 60, "seed": 3}
    attack = {**ATTACK, "when": when, "through": through, **attack}
    return Column(
        name=f"{when}-{'adaptive' if through == 'defence' else 'transfer'}", data=data, attack=attack
    )


COLUMNS = [_column(when, through) for when in ("evasion", "poisoning") for through in ("defence", SURROGATE)]
ROW = Row(name="iv", label="", model="gadc", settings=IV)
TABLE = parse_table("t", {"title": "", "source": "", "runs": 1, "columns": [], "rows": []})


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    monkeypatch.setattr(module, "_kept", {})
    monkeypatch.setattr(run_module, "_last", None)


@pytest.fixture
def attacks(monkeypatch):
    """Record every attack that is run: its scores, flips and settings."""
    seen = []
    call = PGD.__call__

    def spy(self, scores, data, **settings):
        flips = call(self, scores, data, **settings)
        seen.append((scores, flips, settings))
        return flips

    monkeypatch.setattr(PGD, "__call__", spy)
    return seen


def _run(row, column, run=0):
    return run_once(Cell(TABLE, row, column), run)


def _attack(row, column, data, run=0):
    return under_attack(Cell(TABLE, row, column), run, data)


def _figures(result):
    assert result.ok, result
    return result.val, result.test, result.epoch, result.clean, result.settings_hash


def test_run_with_an_attack_of_each_kind_can_be_repeated(monkeypatch):
    first = [_figures(_run(ROW, column)) for column in COLUMNS]
    monkeypatch.setattr(module, "_kept", {})
    torch.manual_seed(7)
    again = [_figures(_run(ROW, column)) for column in reversed(COLUMNS)]
    assert first == again[::-1]
    assert len({hashed for *_, hashed in first}) == 4
    assert len({clean for *_, clean, _ in first}) == 1  # one trained model


def test_evasion_and_poisoning_share_their_flips(attacks):
    for column in COLUMNS:
        _run(ROW, column)
    assert len(attacks) == 2
    _run(ROW, COLUMNS[0], 1)  # another run has other weights, so other flips
    assert len(attacks) == 3


def test_rows_share_the_flips_of_the_surrogate(attacks):
    for row in (ROW, replace(ROW, name="other", settings={**IV, "self_loops": 2.0})):
        _run(row, _column(through=SURROGATE))
    assert len(attacks) == 1


def test_evasion_keeps_the_weights_and_poisoning_trains_again(attacks):
    data = prepare(TABLE, COLUMNS[0], 0)
    evasion = _attack(ROW, _column("evasion"), data)
    poisoning = _attack(ROW, _column("poisoning"), data)
    [(scores, flips, settings)] = attacks
    changed = flips.apply(data)
    assert settings["budget"] == 6
    assert torch.equal(settings["nodes"], data.test_mask.nonzero().flatten())
    expected = scores(changed.x, changed.edge_index, changed.edge_weight)
    torch.testing.assert_close(evasion.logits, expected.detach())
    again = MODELS["gadc"](**IV).fit(changed, seed=Cell(TABLE, ROW, _column("poisoning")).seed(0))
    torch.testing.assert_close(poisoning.logits, again.logits)
    assert torch.equal(evasion.before, poisoning.before)
    assert not torch.equal(evasion.before, evasion.logits)


def test_attack_goes_through_the_defence_or_the_surrogate(attacks):
    data = prepare(TABLE, COLUMNS[0], 0)
    own = _attack(ROW, _column(), data).fitted
    _attack(ROW, _column(through=SURROGATE), data)
    defence, surrogate = (scores(data.x, data.edge_index, None) for scores, _, _ in attacks)
    torch.testing.assert_close(defence, own.logits)
    assert not torch.allclose(surrogate, own.logits)


def test_own_weights_under_other_settings_replace_the_surrogate(attacks):
    """Repeat the published attack on IV, which uses the trained weights on the plain graph."""
    data = prepare(TABLE, COLUMNS[0], 0)
    row = replace(ROW, attacked={"transfer": {"power": 0.0}})
    fitted = _attack(row, _column(through=SURROGATE), data).fitted
    [(scores, _, _)] = attacks
    dense = torch.zeros(60, 60).index_put(tuple(data.edge_index), torch.tensor(1.0)) + torch.eye(60)
    expected = fitted.module(dense @ dense @ data.x)
    torch.testing.assert_close(scores(data.x, data.edge_index, None), expected)


def test_defence_without_gradient_is_attacked_through_its_relaxation(monkeypatch):
    made = []

    class Spy(GCNSVD):
        def fit(self, data, *, seed=0, callbacks=()):
            made.append(self)
            return super().fit(data, seed=seed)

    monkeypatch.setitem(MODELS, "spy", Spy)
    attacked = {"defence": {"relaxed": True}}
    settings = {"hidden": 4, "epochs": 3, "rank": 5}
    row = Row(name="s", label="", model="spy", settings=settings, attacked=attacked)
    assert _run(row, _column(num_steps=2)).ok
    assert [(one.relaxed, one.epochs) for one in made] == [(False, 3), (True, 1)]


def test_row_can_have_its_own_attack(attacks):
    row = replace(ROW, attacked={"defence": {"attack": {"name": "random"}}})
    attack = {"name": "pgd", "budget": 6, "when": "evasion", "through": "defence"}
    column = Column(name="c", data=COLUMNS[0].data, attack=attack)
    assert _run(row, column).ok
    assert attacks == []


def test_settings_hold_the_attack():
    base = _column()
    columns = [
        base,
        _column("poisoning"),
        _column(through=SURROGATE),
        _column(budget=7),
        _column(num_steps=9),
    ]
    pairs = [(ROW, column) for column in columns]
    pairs.append((replace(ROW, attacked={"defence": {"power": 0.0}}), base))
    assert len({fingerprint(settings_of(Cell(TABLE, *pair))) for pair in pairs}) == len(pairs)
    elsewhere = replace(ROW, attacked={"transfer": {"power": 0.0}})
    assert settings_of(Cell(TABLE, elsewhere, base)) == settings_of(Cell(TABLE, ROW, base))
    assert "attack" not in settings_of(Cell(TABLE, ROW, replace(base, attack={})))


def test_column_must_say_when_the_attack_comes():
    result = _run(ROW, _column("later"))
    assert result.error.startswith("ValueError: column 'later-adaptive': attack.when must be one of")


def test_once_keeps_a_limited_number_of_things(monkeypatch):
    monkeypatch.setattr(module, "KEPT", 2)
    assert [module._once([number], lambda number=number: number) for number in (1, 2, 3, 3)] == [1, 2, 3, 3]
    assert sorted(module._kept.values()) == [2, 3]


def test_adaptive_table_changes_only_known_settings_under_attack():
    table = load_table("adaptive")
    assert table.runs == 5
    for cell in table.cells():
        assert set(attacked_settings(cell)) <= {"relaxed", "power", "attack"}


@pytest.mark.data
def test_run_r_of_the_adaptive_table_has_split_r():
    table = load_table("adaptive")
    masks = [prepare(table, table.column("cora-evasion-transfer"), run).test_mask for run in range(5)]
    assert len({tuple(mask.tolist()) for mask in masks}) == 5
