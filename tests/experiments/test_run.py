"""One run: repeatable alone, on the data that all rows of its column share, and never fatal."""

import json
import re
from dataclasses import replace

import pytest
import torch

from gadc.experiments import _run as run_module
from gadc.experiments._results import derive_seed, fingerprint
from gadc.experiments._run import prepare, run_once, settings_of
from gadc.experiments._spec import Column, Row, load_table
from gadc.models import GADC, MODELS
from tests.helpers.tiny import BROKEN, tiny_table

TABLE = tiny_table()
GADC_ROW, MLP_ROW, PAPER_ROW = TABLE.rows
CLEAN, NOISY = TABLE.columns
FIGURES = ("val", "test", "epoch", "seed", "settings", "settings_hash")


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    """No data left over from another test."""
    monkeypatch.setattr(run_module, "_last", None)
    run_module._load.cache_clear()


def _figures(result):
    return {key: result[key] for key in FIGURES}


def test_a_run_can_be_repeated_alone(monkeypatch):
    among_others = [
        run_once(TABLE, row, column, run)
        for run in range(2)
        for column in TABLE.columns
        for row in (GADC_ROW, MLP_ROW)
    ]
    monkeypatch.setattr(run_module, "_last", None)
    torch.manual_seed(123)  # nothing global decides
    alone = run_once(TABLE, MLP_ROW, NOISY, 1)
    assert _figures(alone) == _figures(among_others[-1])
    assert len({result["seed"] for result in among_others}) == 8
    assert len({(result["val"], result["test"]) for result in among_others}) == 8


def test_a_result_says_all_about_its_run():
    result = run_once(TABLE, GADC_ROW, NOISY, 1)
    assert (result["table"], result["row"], result["column"], result["run"]) == ("tiny", "gadc", "noisy", 1)
    assert result["status"] == "ok"
    assert result["seed"] == derive_seed("tiny", "gadc", "noisy", 1)
    assert result["settings_hash"] == fingerprint(result["settings"])
    assert 0 <= result["test"] <= 100
    assert 0 <= result["epoch"] < 3
    assert result["seconds"] > 0
    assert result["peak_mb"] > 0
    assert set(result["versions"]) == {"gadc", "torch", "numpy", "python"}
    assert json.loads(json.dumps(result)) == result


def test_rows_of_a_column_see_the_same_data(monkeypatch):
    seen = []

    class Spy(GADC):
        def fit(self, data, *, seed=0, callbacks=()):
            seen.append(data)
            return super().fit(data, seed=seed)

    monkeypatch.setitem(MODELS, "spy", Spy)
    rows = [Row(name=name, label="", model="spy", settings={"epochs": 1, "lam": 0.0}) for name in "ab"]
    for run in (0, 1):
        for row in rows:
            assert run_once(TABLE, row, NOISY, run)["status"] == "ok"
            monkeypatch.setattr(run_module, "_last", None)  # equal, not only the same object
    assert torch.equal(seen[0].x, seen[1].x)
    assert torch.equal(seen[0].train_mask, seen[1].train_mask)
    assert torch.equal(seen[2].x, seen[3].x)
    assert not torch.equal(seen[0].x, seen[2].x)


def test_noise_and_split_differ_across_runs_and_columns():
    other = replace(NOISY, name="noisy2")
    drawn = [prepare(TABLE, column, run) for column in (NOISY, other) for run in (0, 1)]
    drawn.append(prepare(replace(TABLE, name="tiny2"), NOISY, 0))
    for number, data in enumerate(drawn):
        for another in drawn[:number]:
            assert not torch.equal(data.x, another.x)
            assert not torch.equal(data.train_mask, another.train_mask)
    again = prepare(TABLE, NOISY, 0)
    assert torch.equal(again.x, drawn[0].x)
    assert torch.equal(again.test_mask, drawn[0].test_mask)


def test_noise_of_the_stated_level_on_the_clean_features():
    [noise] = NOISY.corruption
    difference = prepare(TABLE, NOISY, 0).x - prepare(TABLE, CLEAN, 0).x
    assert float(difference.std()) == pytest.approx(noise["level"], rel=0.01)


def test_two_corruptions_of_one_kind_draw_independently():
    twice = replace(NOISY, corruption=NOISY.corruption * 2)
    clean, once = prepare(TABLE, CLEAN, 0).x, prepare(TABLE, NOISY, 0).x
    first, second = once - clean, prepare(TABLE, twice, 0).x - once
    assert abs(float((first * second).mean())) < 0.02


def test_a_stated_seed_of_the_split_is_kept():
    fixed = Column(name="fixed", data={**CLEAN.data, "seed": 3})
    masks = [prepare(TABLE, fixed, run).train_mask for run in (0, 1)]
    assert torch.equal(*masks)


def test_loaded_data_is_not_changed():
    column = replace(NOISY, data={**NOISY.data, "seed": 3})
    loaded = run_module._load(**column.data)
    before = loaded.x.clone()
    assert run_once(TABLE, GADC_ROW, column, 0)["status"] == "ok"
    assert torch.equal(loaded.x, before)


def test_a_changed_column_is_not_served_old_data():
    """Same names, more noise: the data kept from the run before must not be used."""
    louder = tiny_table(level=20.0)
    first = run_once(TABLE, MLP_ROW, NOISY, 0)
    second = run_once(louder, louder.row("mlp"), louder.column("noisy"), 0)
    run_module._last = None
    assert _figures(second) == _figures(run_once(louder, louder.row("mlp"), louder.column("noisy"), 0))
    assert second["val"] != first["val"]


def test_signed_row_sums_near_zero_do_not_warn():
    row = replace(MLP_ROW, settings={"epochs": 1, "normalize": "sum"})
    assert run_once(TABLE, row, NOISY, 0)["status"] == "ok"  # warnings are errors here


@pytest.mark.parametrize(
    ("row", "column", "message"),
    [
        (GADC_ROW, Column(name="c", data={"name": "nowhere"}), "ValueError: .*'nowhere'"),
        (GADC_ROW, Column(name="c", data={"name": "digits", "colour": 1}), "TypeError: .*'colour'"),
        (GADC_ROW, replace(CLEAN, corruption=[{"name": "rain"}]), "ValueError: .*'rain'"),
        (Row(**BROKEN), CLEAN, "ValueError: .*'none'"),
        (replace(GADC_ROW, settings={"epochs": 0}), CLEAN, "ValueError: .*epochs.* got 0"),
        (replace(GADC_ROW, model="oracle"), CLEAN, "ValueError: .*gadc, mlp, .*'oracle'"),
        (PAPER_ROW, CLEAN, "ValueError: row 'paper' has no model"),
        (Row(name="m", label="", measure="luck"), CLEAN, "KeyError: 'luck'"),
    ],
    ids=["data", "data-key", "corruption", "fit", "settings", "model", "no-model", "measure"],
)
def test_a_failing_run_is_recorded(row, column, message):
    result = run_once(TABLE, row, column, 0)
    assert result["status"] == "failed"
    assert "test" not in result
    assert re.match(message, result["error"])
    assert json.loads(json.dumps(result)) == result


def test_an_interrupt_is_no_failed_run(monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "make_model", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_once(TABLE, GADC_ROW, CLEAN, 0)


def test_settings_hold_all_that_decides():
    base = fingerprint(settings_of(GADC_ROW, NOISY))
    changed = [
        (replace(GADC_ROW, model="mlp"), NOISY),
        (replace(GADC_ROW, settings={**GADC_ROW.settings, "lam": 3.0}), NOISY),
        (replace(GADC_ROW, cells={"noisy": {"eps": 0.5}}), NOISY),
        (GADC_ROW, replace(NOISY, data={**NOISY.data, "seed": 1})),
        (GADC_ROW, replace(NOISY, corruption=[])),
        (GADC_ROW, replace(NOISY, corruption=[{"name": "gaussian-noise", "level": 0.3}])),
    ]
    hashes = {fingerprint(settings_of(*pair)) for pair in changed}
    assert len(hashes | {base}) == 1 + len(changed)
    same = replace(GADC_ROW, label="other", cells={"clean": {"eps": 0.5}}, published={})
    assert fingerprint(settings_of(same, replace(NOISY, x=3.0))) == base


@pytest.mark.data
def test_a_real_cell_lands_near_the_published_figure():
    table = load_table("metattack")
    row, column = table.row("gadc-iv"), table.column("cora-0.25")
    results = [run_once(table, row, column, run) for run in range(3)]
    assert [result["status"] for result in results] == ["ok"] * 3
    mean, std = row.published["cora-0.25"]
    assert (mean, std) == (76.0, 0.61)
    assert abs(sum(result["test"] for result in results) / 3 - mean) <= 3 * std
