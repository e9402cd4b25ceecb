"""Many runs: resumable after any end, the same in parallel, and one that fails stops nothing."""

import multiprocessing
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from gadc.experiments import _spec as spec
from gadc.experiments._results import read_results, results_file
from gadc.experiments._runner import Task, current_results, execute, plan
from gadc.models import GADC, MODELS
from tests.helpers.tiny import BROKEN, tiny_table

ENDLESS = {"name": "endless", "label": "", "model": "gadc", "settings": {"epochs": 10**9}}


def _run(table, out, *, jobs=1, rows=None, columns=None, runs=None):
    """Resume the table; gives what was done now."""
    tasks = plan(table, current_results(table, out), rows=rows, columns=columns, runs=runs)
    return list(execute(tasks, out, jobs=jobs))


def _outcome(results):
    return {(r["row"], r["column"], r["run"]): (r["status"], r.get("val"), r.get("test")) for r in results}


def _planned(table, done=(), *, rows=None, columns=None, runs=None):
    """(row, column, run) in the order of the plan."""
    tasks = plan(table, done, rows=rows, columns=columns, runs=runs)
    return [(row.name, task.column.name, task.run) for task in tasks for row in task.rows]


def test_plan_lets_all_columns_grow_together():
    assert _planned(tiny_table(runs=2)) == [
        ("gadc", "clean", 0),
        ("mlp", "clean", 0),
        ("gadc", "noisy", 0),
        ("mlp", "noisy", 0),
        ("gadc", "clean", 1),
        ("mlp", "clean", 1),
        ("gadc", "noisy", 1),
        ("mlp", "noisy", 1),
    ]


def test_plan_respects_the_choice():
    table = tiny_table(runs=2)
    assert _planned(table, rows=["mlp"], columns=["noisy"], runs=3) == [
        ("mlp", "noisy", run) for run in range(3)
    ]
    assert _planned(table, rows=["paper"]) == []
    with pytest.raises(ValueError, match="row must be one of gadc, mlp, paper, got 'gat'"):
        plan(table, [], rows=["gat"], columns=None, runs=None)
    with pytest.raises(ValueError, match="column must be one of clean, noisy, got 'cora'"):
        plan(table, [], rows=None, columns=["cora"], runs=None)


def test_plan_respects_the_runs_and_columns_of_a_row():
    table = tiny_table(runs=3)
    gadc, mlp, paper = table.rows
    table = replace(table, rows=(replace(gadc, runs=1), replace(mlp, runs=4, only=("noisy",)), paper))
    planned = _planned(table)
    assert sorted(planned) == [
        ("gadc", "clean", 0),
        ("gadc", "noisy", 0),
        *(("mlp", "noisy", run) for run in range(4)),
    ]
    assert sorted(_planned(table, runs=2)) == [
        *(("gadc", column, run) for column in ("clean", "noisy") for run in range(2)),
        *(("mlp", "noisy", run) for run in range(2)),
    ]


def test_plan_leaves_out_what_is_done_and_repeats_what_failed():
    table = tiny_table(runs=1)
    done = [
        {"row": "gadc", "column": "clean", "run": 0, "status": "ok"},
        {"row": "mlp", "column": "clean", "run": 0, "status": "failed"},
    ]
    assert _planned(table, done) == [("mlp", "clean", 0), ("gadc", "noisy", 0), ("mlp", "noisy", 0)]


def test_a_result_is_on_disk_when_it_is_yielded(tmp_path):
    table = tiny_table(runs=1)
    yielded = []
    for result in execute(plan(table, [], rows=None, columns=None, runs=None), tmp_path):
        yielded.append(result)
        assert read_results(results_file(tmp_path, "tiny")) == yielded
    assert len(yielded) == 4
    assert _outcome(current_results(table, tmp_path)) == _outcome(yielded)


def test_a_run_begins_once_the_one_before_it_is_stored(tmp_path, monkeypatch):
    begun = []

    class Noted(GADC):
        def fit(self, data, *, seed=0, callbacks=()):
            begun.append(seed)
            return super().fit(data, seed=seed)

    monkeypatch.setitem(MODELS, "gadc", Noted)
    table = tiny_table(runs=1, more_rows=({"name": "again", "label": "", "model": "gadc"},))
    tasks = plan(table, [], rows=["gadc", "again"], columns=["clean"], runs=1)
    assert len(tasks) == 1  # both rows
    next(execute(tasks, tmp_path))
    assert len(begun) == 1


def test_parallel_equals_serial_though_runs_fail_and_processes_are_killed(tmp_path):
    """Starting processes is what takes time here, so one pair of them serves all three."""
    table = tiny_table(runs=3, more_rows=(BROKEN,))
    serial = _run(table, tmp_path / "serial")
    results = execute(plan(table, [], rows=None, columns=None, runs=None), tmp_path / "parallel", jobs=2)
    first = next(results)
    time.sleep(1)  # nothing is asked of the processes while this result is looked at
    for process in multiprocessing.active_children():
        process.kill()
        process.join()
    parallel = [first, *results]
    assert len(parallel) == 18
    assert _outcome(parallel) == _outcome(serial)
    assert _outcome(current_results(table, tmp_path / "parallel")) == _outcome(serial)
    assert {r["row"] for r in serial if r["status"] == "failed"} == {"broken"}
    assert sum(r["status"] == "ok" for r in serial) == 12


class _Deadly(str):
    """Ends the process that unpickles it."""

    __slots__ = ()

    def __reduce__(self):
        return os._exit, (1,)


def test_a_process_that_dies_is_a_failed_run_and_the_rest_goes_on(tmp_path):
    table = tiny_table(runs=1)
    gadc, mlp, _ = table.rows
    deadly = replace(gadc, name="deadly", settings={"head": _Deadly("linear")})
    first, second = (
        Task(table, column, 0, rows)
        for column, rows in zip(table.columns, [(gadc, deadly), (mlp,)], strict=True)
    )
    results = list(execute([first, second], tmp_path, jobs=2))
    assert {(r["row"], r["status"]) for r in results} == {("gadc", "ok"), ("mlp", "ok"), ("deadly", "failed")}
    assert len(results) == 3
    assert "process died" in next(r["error"] for r in results if r["row"] == "deadly")


def test_a_kill_loses_only_the_runs_under_way(tmp_path):
    """What is stored after it is kept, and going on gives what an undisturbed run gives."""
    table = tiny_table(runs=1, more_rows=(ENDLESS,))
    _start_and_kill(tmp_path / "killed")
    kept = current_results(table, tmp_path / "killed")
    assert kept  # although the last run of no task was done
    rows = ["gadc", "mlp"]
    resumed = _run(table, tmp_path / "killed", rows=rows)
    whole = _run(table, tmp_path / "whole", rows=rows)
    assert not set(_outcome(kept)) & set(_outcome(resumed))  # nothing is done twice
    assert len(kept) + len(resumed) == len(whole) == 4
    assert _outcome(current_results(table, tmp_path / "killed")) == _outcome(whole)


def _start_and_kill(out: Path) -> None:
    """Run a table that never ends on two processes, and kill their parent once there is a result."""
    file = results_file(out, "tiny")
    process = _start(out)
    try:
        deadline = time.monotonic() + 120
        while not (file.exists() and b"\n" in file.read_bytes()):
            assert process.poll() is None, "the process ended by itself"
            assert time.monotonic() < deadline, "no result in two minutes"
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        # The workers have the other end of this pipe: it closes when the last of them is gone.
        assert select.select([process.stdout], [], [], 30)[0], "the workers outlive the kill"
        assert process.stdout.read() == b""
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait()


def _start(out: Path) -> subprocess.Popen:
    code = (
        "import pathlib, sys\n"
        "from tests.helpers.tiny import tiny_table\n"
        "from gadc.experiments._runner import execute, plan\n"
        f"table = tiny_table(runs=1, more_rows=({ENDLESS!r},))\n"
        "tasks = plan(table, [], rows=None, columns=None, runs=None)\n"
        "for _ in execute(tasks, pathlib.Path(sys.argv[1]), jobs=2): pass\n"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-c", code, str(out)],
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        start_new_session=True,  # a group of its own, so that nothing is left behind if this fails
    )


def test_resume_after_a_torn_line_equals_uninterrupted(tmp_path):
    table = tiny_table(runs=2)
    whole = _run(table, tmp_path)
    file = results_file(tmp_path, "tiny")
    content = file.read_bytes()
    file.write_bytes(content[: content.rstrip().rindex(b"\n") + 40])
    again = _run(table, tmp_path)
    assert _outcome(again) == _outcome(whole[-1:])
    assert _outcome(current_results(table, tmp_path)) == _outcome(whole)


def test_a_changed_setting_is_not_mixed_with_old_results(tmp_path):
    old, new = tiny_table(runs=1), tiny_table(runs=1, level=5.0)
    first = _run(old, tmp_path)
    second = _run(new, tmp_path)
    assert [(r["row"], r["column"]) for r in second] == [("gadc", "noisy"), ("mlp", "noisy")]
    now = _outcome(current_results(new, tmp_path))
    assert now == {**_outcome(first), **_outcome(second)}
    assert _outcome(current_results(old, tmp_path)) == _outcome(first)  # and the old ones are still there
    assert _run(old, tmp_path) == []


def test_results_of_rows_that_are_gone_are_left_aside(tmp_path):
    table = tiny_table(runs=1)
    _run(table, tmp_path, columns=["clean"])
    smaller = replace(table, rows=table.rows[1:])
    assert {result["row"] for result in current_results(smaller, tmp_path)} == {"mlp"}


def test_failed_runs_are_tried_again(tmp_path, monkeypatch):
    class Moody(GADC):
        ill = True

        def fit(self, data, *, seed=0, callbacks=()):
            if self.ill:
                raise RuntimeError("not today")
            return super().fit(data, seed=seed)

    monkeypatch.setitem(MODELS, "moody", Moody)
    moody = {"name": "moody", "label": "", "model": "moody", "settings": {"epochs": 1}}
    table = tiny_table(runs=1, more_rows=(moody,))
    first = _run(table, tmp_path, columns=["clean"])
    assert {r["row"]: r["status"] for r in first} == {"gadc": "ok", "mlp": "ok", "moody": "failed"}
    assert "RuntimeError: not today" in first[-1]["error"]
    monkeypatch.setattr(Moody, "ill", False)
    second = _run(table, tmp_path, columns=["clean"])
    assert [(r["row"], r["status"]) for r in second] == [("moody", "ok")]
    assert {r["status"] for r in current_results(table, tmp_path)} == {"ok"}


def test_cells_of_another_table_are_run_and_kept_there(tmp_path, monkeypatch):
    home = tiny_table(runs=1)
    monkeypatch.setattr(spec, "load_table", {"tiny": home}.__getitem__)
    borrowed = {"name": "ours", "label": "", "same_as": {"noisy": "tiny/gadc"}}
    view = tiny_table(name="view", runs=1, more_rows=(borrowed,))
    view = replace(view, rows=view.rows[-1:])
    done = _run(view, tmp_path)
    assert [(r["table"], r["row"], r["column"]) for r in done] == [("tiny", "gadc", "noisy")]
    assert not results_file(tmp_path, "view").exists()
    seen = current_results(view, tmp_path)
    assert [(r["table"], r["row"], r["test"]) for r in seen] == [("view", "ours", done[0]["test"])]
    assert _run(view, tmp_path) == []
    assert ("gadc", "noisy", 0) not in _planned(home, current_results(home, tmp_path))
