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

from gadc.experiments import Cell, Store, Task, current_results, execute, plan
from gadc.models import GADC, MODELS
from tests.helpers.paths import ROOT
from tests.helpers.tiny import BROKEN, tiny_table

ENDLESS = {"name": "endless", "label": "", "model": "gadc", "settings": {"epochs": 10**9}}


def _run(table, store, *, jobs=1, **choice):
    """Resume the table and return what was done now."""
    return list(execute(plan(table, current_results(table, store), **choice), store, jobs=jobs))


def _outcome(results):
    return {(r.row, r.column, r.run): (r.ok, r.val, r.test) for r in results}


def test_execute_stores_a_result_before_it_is_yielded(tmp_path):
    table, store = tiny_table(runs=1), Store(tmp_path)
    yielded = []
    for result in execute(plan(table, []), store):
        yielded.append(result)
        assert store.read("tiny") == yielded
    assert len(yielded) == 4
    assert _outcome(current_results(table, store)) == _outcome(yielded)


def test_execute_begins_a_run_once_the_one_before_is_stored(tmp_path, monkeypatch):
    begun = []

    class Noted(GADC):
        def fit(self, data, *, seed=0, callbacks=()):
            begun.append(seed)
            return super().fit(data, seed=seed)

    monkeypatch.setitem(MODELS, "gadc", Noted)
    table = tiny_table(runs=1, more_rows=({"name": "again", "label": "", "model": "gadc"},))
    tasks = plan(table, [], rows=["gadc", "again"], columns=["clean"], runs=1)
    assert len(tasks) == 1  # both rows
    next(execute(tasks, Store(tmp_path)))
    assert len(begun) == 1


@pytest.mark.slow
def test_execute_in_parallel_equals_serial_though_runs_fail_and_processes_are_killed(tmp_path):
    """Starting processes takes the time here, so one pair of them serves all three."""
    table = tiny_table(runs=3, more_rows=(BROKEN,))
    serial = _run(table, Store(tmp_path / "serial"))
    parallel_store = Store(tmp_path / "parallel")
    results = execute(plan(table, []), parallel_store, jobs=2)
    first = next(results)
    time.sleep(1)  # the processes are idle while this result is looked at
    for process in multiprocessing.active_children():
        process.kill()
        process.join()
    parallel = [first, *results]
    assert len(parallel) == 18
    assert _outcome(parallel) == _outcome(serial)
    assert _outcome(current_results(table, parallel_store)) == _outcome(serial)
    assert {r.row for r in serial if not r.ok} == {"broken"}
    assert sum(r.ok for r in serial) == 12


class _Deadly(str):
    """Ends the process that unpickles it."""

    __slots__ = ()

    def __reduce__(self):
        return os._exit, (1,)


@pytest.mark.slow
def test_execute_records_a_process_that_dies_and_does_the_rest(tmp_path):
    table = tiny_table(runs=1)
    gadc, mlp, _ = table.rows
    clean, noisy = table.columns
    deadly = replace(gadc, name="deadly", settings={"head": _Deadly("linear")})
    first = Task((Cell(table, gadc, clean), Cell(table, deadly, clean)), 0)
    second = Task((Cell(table, mlp, noisy),), 0)
    results = list(execute([first, second], Store(tmp_path), jobs=2))
    assert {(r.row, r.ok) for r in results} == {("gadc", True), ("mlp", True), ("deadly", False)}
    assert len(results) == 3
    assert "process died" in next(r.error for r in results if r.row == "deadly")


@pytest.mark.slow
def test_execute_after_a_kill_repeats_only_the_runs_under_way(tmp_path):
    """Resuming gives what an undisturbed run gives."""
    table = tiny_table(runs=1, more_rows=(ENDLESS,))
    killed, whole_store = Store(tmp_path / "killed"), Store(tmp_path / "whole")
    _start_and_kill(killed)
    kept = current_results(table, killed)
    assert kept  # although the last run of no task was done
    rows = ["gadc", "mlp"]
    resumed = _run(table, killed, rows=rows)
    whole = _run(table, whole_store, rows=rows)
    assert not set(_outcome(kept)) & set(_outcome(resumed))  # nothing is done twice
    assert len(kept) + len(resumed) == len(whole) == 4
    assert _outcome(current_results(table, killed)) == _outcome(whole)


def _start_and_kill(store: Store) -> None:
    """Run a table that never ends on two processes, and kill their parent once there is a result."""
    process = _start(store.folder)
    try:
        deadline = time.monotonic() + 120
        while not store.read("tiny"):
            assert process.poll() is None, "the process ended by itself"
            assert time.monotonic() < deadline, "no result in two minutes"
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        # The workers hold the other end of this pipe: it closes when the last of them is gone.
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
        "from gadc.experiments import Store, execute, plan\n"
        f"table = tiny_table(runs=1, more_rows=({ENDLESS!r},))\n"
        "for _ in execute(plan(table, []), Store(pathlib.Path(sys.argv[1])), jobs=2): pass\n"
    )
    paths = os.pathsep.join(path for path in [*sys.path, str(ROOT)] if path)
    return subprocess.Popen(
        [sys.executable, "-c", code, str(out)],
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        start_new_session=True,  # a group of its own, so that nothing is left behind if this fails
    )


def test_execute_after_a_torn_line_equals_uninterrupted(tmp_path):
    table, store = tiny_table(runs=2), Store(tmp_path)
    whole = _run(table, store)
    file = store.runs_file("tiny")
    content = file.read_bytes()
    file.write_bytes(content[: content.rstrip().rindex(b"\n") + 40])
    again = _run(table, store)
    assert _outcome(again) == _outcome(whole[-1:])
    assert _outcome(current_results(table, store)) == _outcome(whole)


def test_execute_after_a_changed_setting_repeats_the_cells_it_concerns(tmp_path):
    old, new, store = tiny_table(runs=1), tiny_table(runs=1, level=5.0), Store(tmp_path)
    first = _run(old, store)
    second = _run(new, store)
    assert [(r.row, r.column) for r in second] == [("gadc", "noisy"), ("mlp", "noisy")]
    now = _outcome(current_results(new, store))
    assert now == {**_outcome(first), **_outcome(second)}
    assert _run(old, store) == []


def test_execute_repeats_failed_runs(tmp_path, monkeypatch):
    class Moody(GADC):
        ill = True

        def fit(self, data, *, seed=0, callbacks=()):
            if self.ill:
                raise RuntimeError("not today")
            return super().fit(data, seed=seed)

    monkeypatch.setitem(MODELS, "moody", Moody)
    moody = {"name": "moody", "label": "", "model": "moody", "settings": {"epochs": 1}}
    table, store = tiny_table(runs=1, more_rows=(moody,)), Store(tmp_path)
    first = _run(table, store, columns=["clean"])
    assert {r.row: r.ok for r in first} == {"gadc": True, "mlp": True, "moody": False}
    assert "RuntimeError: not today" in first[-1].error
    monkeypatch.setattr(Moody, "ill", False)
    second = _run(table, store, columns=["clean"])
    assert [(r.row, r.ok) for r in second] == [("moody", True)]
    assert all(r.ok for r in current_results(table, store))
