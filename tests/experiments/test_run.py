"""One run: repeatable alone, on the data that all rows of its column share, and never fatal."""

import re
from dataclasses import replace

import pytest
import torch

from gadc.experiments import Cell, Column, Row, load_table, prepare, run_once
from gadc.experiments import _run as run_module
from gadc.experiments._fingerprint import derive_seed, fingerprint
from gadc.experiments._run import settings_of
from gadc.models import GADC, MODELS
from tests.helpers.tiny import BROKEN, tiny_table

TABLE = tiny_table()
GADC_ROW, MLP_ROW, PAPER_ROW = TABLE.rows
CLEAN, NOISY = TABLE.columns


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    """No data left over from another test."""
    monkeypatch.setattr(run_module, "_last", None)
    run_module._load.cache_clear()


def _run(row, column, run=0, table=TABLE):
    return run_once(Cell(table, row, column), run)


def _figures(result):
    return result.val, result.test, result.epoch, result.settings_hash


def test_run_can_be_repeated_alone(monkeypatch):
    among_others = [
        _run(row, column, run) for run in range(2) for column in TABLE.columns for row in (GADC_ROW, MLP_ROW)
    ]
    monkeypatch.setattr(run_module, "_last", None)
    torch.manual_seed(123)  # no global state decides
    alone = _run(MLP_ROW, NOISY, 1)
    assert _figures(alone) == _figures(among_others[-1])
    assert len({(result.val, result.test) for result in among_others}) == 8


def test_cell_seed_depends_on_table_row_column_and_run():
    assert TABLE.cell("gadc", "noisy").seed(1) == derive_seed("tiny", "gadc", "noisy", 1)


def test_result_describes_its_run():
    result = _run(GADC_ROW, NOISY, 1)
    assert (result.table, result.row, result.column, result.run) == ("tiny", "gadc", "noisy", 1)
    assert result.name == "tiny gadc noisy run 1"
    assert result.ok
    assert result.error == ""
    assert result.settings_hash == fingerprint(result.settings)
    assert 0 <= result.test <= 100
    assert 0 <= result.epoch < 3
    assert result.seconds > 0
    assert result.peak_mb > 0
    assert set(result.versions) == {"gadc", "torch", "numpy", "python"}


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
            assert _run(row, NOISY, run).ok
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


def test_noise_of_the_stated_level_is_added_to_the_clean_features():
    [noise] = NOISY.corruption
    difference = prepare(TABLE, NOISY, 0).x - prepare(TABLE, CLEAN, 0).x
    assert float(difference.std()) == pytest.approx(noise["level"], rel=0.01)


def test_two_corruptions_of_one_kind_draw_independently():
    twice = replace(NOISY, corruption=NOISY.corruption * 2)
    clean, once = prepare(TABLE, CLEAN, 0).x, prepare(TABLE, NOISY, 0).x
    first, second = once - clean, prepare(TABLE, twice, 0).x - once
    assert abs(float((first * second).mean())) < 0.02


def test_stated_seed_of_the_split_is_kept():
    fixed = Column(name="fixed", data={**CLEAN.data, "seed": 3})
    masks = [prepare(TABLE, fixed, run).train_mask for run in (0, 1)]
    assert torch.equal(*masks)


def test_run_does_not_change_the_loaded_data():
    column = replace(NOISY, data={**NOISY.data, "seed": 3})
    loaded = run_module._load(**column.data)
    before = loaded.x.clone()
    assert _run(GADC_ROW, column).ok
    assert torch.equal(loaded.x, before)


def test_changed_column_does_not_get_old_data():
    """Same names, more noise: the data kept from the run before must not be used."""
    louder = tiny_table(level=20.0)
    cell = louder.cell("mlp", "noisy")
    first = _run(MLP_ROW, NOISY)
    second = run_once(cell, 0)
    run_module._last = None
    assert _figures(second) == _figures(run_once(cell, 0))
    assert second.val != first.val


def test_run_does_not_warn_of_signed_row_sums_near_zero():
    row = replace(MLP_ROW, settings={"epochs": 1, "normalize": "sum"})
    assert _run(row, NOISY).ok  # warnings are errors here


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
def test_failing_run_is_recorded(row, column, message):
    result = _run(row, column)
    assert not result.ok
    assert result.test is None
    assert re.match(message, result.error)


def test_interrupt_is_not_a_failed_run(monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "make_model", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _run(GADC_ROW, CLEAN)


def test_settings_hold_everything_that_decides():
    def hashed(row, column):
        return fingerprint(settings_of(Cell(TABLE, row, column)))

    base = hashed(GADC_ROW, NOISY)
    changed = [
        (replace(GADC_ROW, model="mlp"), NOISY),
        (replace(GADC_ROW, settings={**GADC_ROW.settings, "lam": 3.0}), NOISY),
        (replace(GADC_ROW, cells={"noisy": {"eps": 0.5}}), NOISY),
        (GADC_ROW, replace(NOISY, data={**NOISY.data, "seed": 1})),
        (GADC_ROW, replace(NOISY, corruption=[])),
        (GADC_ROW, replace(NOISY, corruption=[{"name": "gaussian-noise", "level": 0.3}])),
    ]
    hashes = {hashed(*pair) for pair in changed}
    assert len(hashes | {base}) == 1 + len(changed)
    same = replace(GADC_ROW, label="other", cells={"clean": {"eps": 0.5}}, published={})
    assert hashed(same, replace(NOISY, x=3.0)) == base


@pytest.mark.data
def test_real_cell_lands_near_the_published_figure():
    cell = load_table("metattack").cell("gadc-iv", "cora-0.25")
    results = [run_once(cell, run) for run in range(3)]
    assert all(result.ok for result in results)
    mean, std = cell.row.published["cora-0.25"]
    assert (mean, std) == (76.0, 0.61)
    assert abs(sum(result.test for result in results) / 3 - mean) <= 3 * std
