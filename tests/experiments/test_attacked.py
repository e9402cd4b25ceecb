"""Columns with an attack: what it goes through, when it comes, and that it is found once."""

from dataclasses import replace

import pytest
import torch

from gadc.experiments import _attacked as module
from gadc.experiments import _run as run_module
from gadc.experiments._attacked import attacked_settings, under_attack
from gadc.experiments._results import fingerprint
from gadc.experiments._run import prepare, run_once, settings_of
from gadc.experiments._spec import Column, Row, load_table, parse_table
from gadc.models import GCNSVD, MODELS
from gadc.robustness.attacks import PGD
from tests.helpers.attack_graph import communities

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
    """Every attack that is run: the scores and what came of them."""
    seen = []
    call = PGD.__call__

    def spy(self, scores, data, **settings):
        flips = call(self, scores, data, **settings)
        seen.append((scores, flips, settings))
        return flips

    monkeypatch.setattr(PGD, "__call__", spy)
    return seen


def _figures(result):
    assert result["status"] == "ok", result
    return {key: result[key] for key in ("val", "test", "epoch", "clean", "seed", "settings_hash")}


def test_each_kind_of_column_runs_and_can_be_repeated(monkeypatch):
    first = [_figures(run_once(TABLE, ROW, column, 0)) for column in COLUMNS]
    monkeypatch.setattr(module, "_kept", {})
    torch.manual_seed(7)
    again = [_figures(run_once(TABLE, ROW, column, 0)) for column in reversed(COLUMNS)]
    assert first == again[::-1]
    assert len({figures["settings_hash"] for figures in first}) == 4
    assert len({figures["clean"] for figures in first}) == 1  # one trained model


def test_evasion_and_poisoning_share_their_flips(attacks):
    for column in COLUMNS:
        run_once(TABLE, ROW, column, 0)
    assert len(attacks) == 2
    run_once(TABLE, ROW, COLUMNS[0], 1)  # another run has other weights, so other flips
    assert len(attacks) == 3


def test_rows_share_the_flips_of_the_surrogate(attacks):
    for row in (ROW, replace(ROW, name="other", settings={**IV, "self_loops": 2.0})):
        run_once(TABLE, row, _column(through=SURROGATE), 0)
    assert len(attacks) == 1


def test_evasion_keeps_the_weights_and_poisoning_trains_again(attacks):
    data = prepare(TABLE, COLUMNS[0], 0)
    evasion = under_attack("t", ROW, _column("evasion"), 0, data, 5)
    poisoning = under_attack("t", ROW, _column("poisoning"), 0, data, 5)
    [(scores, flips, settings)] = attacks
    changed = flips.apply(data)
    assert settings["budget"] == 6
    assert torch.equal(settings["nodes"], data.test_mask.nonzero().flatten())
    expected = scores(changed.x, changed.edge_index, changed.edge_weight)
    torch.testing.assert_close(evasion.logits, expected.detach())
    again = MODELS["gadc"](**IV).fit(changed, seed=5)
    torch.testing.assert_close(poisoning.logits, again.logits)
    assert torch.equal(evasion.before, poisoning.before)
    assert not torch.equal(evasion.before, evasion.logits)


def test_the_attack_climbs_the_defence_or_the_surrogate(attacks):
    data = prepare(TABLE, COLUMNS[0], 0)
    own = under_attack("t", ROW, _column(), 0, data, 0).fitted
    under_attack("t", ROW, _column(through=SURROGATE), 0, data, 0)
    defence, surrogate = (scores(data.x, data.edge_index, None) for scores, _, _ in attacks)
    torch.testing.assert_close(defence, own.logits)
    assert not torch.allclose(surrogate, own.logits)


def test_own_weights_under_other_settings_replace_the_surrogate(attacks):
    """The published attack on IV: the trained weights over the plain graph."""
    data = prepare(TABLE, COLUMNS[0], 0)
    row = replace(ROW, attacked={"transfer": {"power": 0.0}})
    fitted = under_attack("t", row, _column(through=SURROGATE), 0, data, 0).fitted
    [(scores, _, _)] = attacks
    dense = torch.zeros(60, 60).index_put(tuple(data.edge_index), torch.tensor(1.0)) + torch.eye(60)
    expected = fitted.module(dense @ dense @ data.x)
    torch.testing.assert_close(scores(data.x, data.edge_index, None), expected)


def test_a_defence_without_slope_is_attacked_through_its_relaxation(monkeypatch):
    made = []

    class Spy(GCNSVD):
        def fit(self, data, *, seed=0, callbacks=()):
            made.append(self)
            return super().fit(data, seed=seed)

    monkeypatch.setitem(MODELS, "spy", Spy)
    attacked = {"defence": {"relaxed": True}}
    settings = {"hidden": 4, "epochs": 3, "rank": 5}
    row = Row(name="s", label="", model="spy", settings=settings, attacked=attacked)
    assert run_once(TABLE, row, _column(num_steps=2), 0)["status"] == "ok"
    assert [(one.relaxed, one.epochs) for one in made] == [(False, 3), (True, 1)]


def test_a_row_can_have_its_own_attack(attacks):
    row = replace(ROW, attacked={"defence": {"attack": {"name": "random"}}})
    attack = {"name": "pgd", "budget": 6, "when": "evasion", "through": "defence"}
    column = Column(name="c", data=COLUMNS[0].data, attack=attack)
    assert run_once(TABLE, row, column, 0)["status"] == "ok"
    assert attacks == []


def test_the_settings_hold_the_attack():
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
    assert len({fingerprint(settings_of(*pair)) for pair in pairs}) == len(pairs)
    elsewhere = replace(ROW, attacked={"transfer": {"power": 0.0}})
    assert settings_of(elsewhere, base) == settings_of(ROW, base)
    assert "attack" not in settings_of(ROW, replace(base, attack={}))


def test_a_column_must_say_when():
    result = run_once(TABLE, ROW, _column("later"), 0)
    assert result["error"].startswith("ValueError: column 'later-adaptive': attack.when must be one of")


def test_few_things_are_kept(monkeypatch):
    monkeypatch.setattr(module, "KEPT", 2)
    assert [module._once([number], lambda number=number: number) for number in (1, 2, 3, 3)] == [1, 2, 3, 3]
    assert sorted(module._kept.values()) == [2, 3]


def test_a_changed_graph_is_not_served_old_flips():
    graph = communities()
    other = graph.clone()
    other.edge_index = other.edge_index[:, :-2]
    assert module._checksum(graph) != module._checksum(other)
    assert module._checksum(graph) == module._checksum(graph.clone())


def test_the_table_gives_every_run_its_split():
    table = load_table("adaptive")
    assert table.runs == 5
    for row in table.rows:
        for column in table.columns:
            assert set(attacked_settings(row, column)) <= {"relaxed", "power", "attack"}


@pytest.mark.data
def test_run_r_has_split_r():
    table = load_table("adaptive")
    masks = [prepare(table, table.column("cora-evasion-transfer"), run).test_mask for run in range(5)]
    assert len({tuple(mask.tolist()) for mask in masks}) == 5
