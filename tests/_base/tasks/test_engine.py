"""Tasks run once, in their stages, on any executor; lost workers and errors cost what was under way."""

import os
import signal
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from gadc._base.tasks import Stage, Task, run_stages, write_whole


def write(path, text="done"):
    write_whole(path, lambda file: file.write_text(text))


def copy(source, path):
    write(path, Path(source).read_text() + " and copied")


def fail(path):
    raise ValueError("write: path must be nicer.")


def refuse(path):
    raise PermissionError(13, "Permission denied", path)


def die_once(path, note):
    if not Path(note).exists():
        Path(note).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    write(path)


def die(path):
    os.kill(os.getpid(), signal.SIGKILL)


def task(folder, name, function=write, *arguments):
    path = str(folder / name)
    return Task(name, function, (path, *arguments), (path,), num_bytes=10)


def pool():
    return ProcessPoolExecutor(2, mp_context=get_context("fork"))


EXECUTORS = {"none": lambda: None, "threads": lambda: ThreadPoolExecutor(2), "processes": pool}


@pytest.fixture(params=EXECUTORS)
def executor(request):
    made = EXECUTORS[request.param]()
    yield made
    if made is not None:
        made.shutdown()


def test_run_stages_runs_a_stage_after_the_one_before(tmp_path, executor):
    first = [task(tmp_path, f"part-{i}") for i in range(3)]

    def second():  # made when the first stage is done
        return [
            Task(f"copy-{path.name}", copy, (str(path), f"{path}.copy"), (f"{path}.copy",))
            for path in sorted(tmp_path.iterdir())
        ]

    run_stages([Stage("write", first), Stage("copy", second)], executor=executor)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        name for i in range(3) for name in (f"part-{i}", f"part-{i}.copy")
    ]
    assert (tmp_path / "part-1.copy").read_text() == "done and copied"


def test_run_stages_skips_tasks_whose_outputs_exist(tmp_path):
    (tmp_path / "a").write_text("before")
    run_stages([Stage("write", [task(tmp_path, "a"), task(tmp_path, "b")])])
    assert [(tmp_path / name).read_text() for name in "ab"] == ["before", "done"]


def test_run_stages_keeps_the_type_of_an_error_and_names_the_task(tmp_path, executor):
    with pytest.raises(ValueError, match=r"write: path must be nicer\. \(in the task bad\)"):
        run_stages([Stage("one", [task(tmp_path, "bad", fail)])], executor=executor)
    with pytest.raises(PermissionError, match=r"Permission denied \(in the task shut\).*shut") as caught:
        run_stages([Stage("one", [task(tmp_path, "shut", refuse)])], executor=executor)
    assert caught.value.filename == str(tmp_path / "shut")


def test_run_stages_does_not_start_a_stage_after_an_error(tmp_path):
    with pytest.raises(ValueError, match="nicer"):
        run_stages([Stage("one", [task(tmp_path, "bad", fail)]), Stage("two", [task(tmp_path, "late")])])
    assert list(tmp_path.iterdir()) == []


def test_run_stages_runs_the_tasks_of_a_killed_process_again(tmp_path):
    tasks = [task(tmp_path, f"part-{i}", die_once, str(tmp_path / "note")) for i in range(4)]
    seen = []
    with pool() as executor:
        run_stages([Stage("write", tasks)], executor=executor, progress=seen.append)
    assert all(one.is_done() for one in tasks)
    assert seen[-1].tasks_done == 4


def test_run_stages_says_that_workers_keep_dying(tmp_path):
    with pool() as executor, pytest.raises(ChildProcessError, match=r"died 2 times .* in 1 task: bad\."):
        run_stages([Stage("one", [task(tmp_path, "bad", die)])], executor=executor, retries=1)


def test_run_stages_says_that_the_scheduler_is_gone(tmp_path):
    class Gone:
        def submit(self, function, *arguments):
            future = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    with pytest.raises(ConnectionError, match=r"cancelled the task a, .* repeat the command"):
        run_stages([Stage("one", [task(tmp_path, "a")])], executor=Gone())


def test_run_stages_says_that_a_folder_is_not_shared(tmp_path, monkeypatch):
    monkeypatch.setattr("gadc._base.tasks._engine._SHARED_FOLDER_SECONDS", 0.1)
    elsewhere = Task("a", write, (str(tmp_path / "there"),), (str(tmp_path / "here"),))
    with pytest.raises(FileNotFoundError, match="must be shared"):
        run_stages([Stage("one", [elsewhere])])


def test_run_stages_cancels_what_has_not_started_when_it_is_interrupted(tmp_path):
    begun, go_on = threading.Event(), threading.Event()

    def slow(path):
        begun.set()
        go_on.wait(10)
        write(path)

    def interrupt(state):
        raise KeyboardInterrupt  # after the first task, as Ctrl-C would while others wait

    with ThreadPoolExecutor(1) as executor:
        tasks = [task(tmp_path, "first"), task(tmp_path, "slow", slow), task(tmp_path, "late")]
        seen = []

        def progress(state):
            seen.append(state)
            if state.tasks_done == 1:
                begun.wait(10)
                interrupt(state)

        with pytest.raises(KeyboardInterrupt):
            run_stages([Stage("one", tasks)], executor=executor, progress=progress)
        go_on.set()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "slow"]


def test_run_stages_reports_tasks_bytes_and_time_left(tmp_path):
    (tmp_path / "a").write_text("before")
    seen = []
    tasks = [task(tmp_path, name) for name in "abc"]
    run_stages([Stage("one", tasks), Stage("two", [task(tmp_path, "d")])], progress=seen.append)
    state = [(one.stage, one.number, one.num_stages, one.tasks_done, one.num_tasks) for one in seen]
    assert state == [("one", 1, 2, done, 3) for done in (1, 2, 3)] + [
        ("two", 2, 2, done, 1) for done in (0, 1)
    ]
    assert [(one.bytes_done, one.num_bytes) for one in seen[:3]] == [(10, 30), (20, 30), (30, 30)]
    assert seen[0].seconds_left is None
    assert seen[1].seconds_left == pytest.approx(seen[1].seconds)  # as many bytes are left as were done here
    assert seen[2].seconds_left == 0


def test_task_needs_an_output():
    with pytest.raises(ValueError, match="Task: outputs must name at least one file, got none for 'a'"):
        Task("a", write, ("a",), ())


def test_run_stages_waits_for_a_file_that_a_shared_folder_shows_late(tmp_path):
    def later(path):
        threading.Thread(target=lambda: (time.sleep(0.2), write(path))).start()

    run_stages([Stage("one", [task(tmp_path, "a", later)])])
    assert (tmp_path / "a").exists()
