"""One writer per file: a second one is refused with the name of the first, and a stale lock is taken over."""

import json
import threading

import pytest

from gadc._base.locks import sole_writer


def test_sole_writer_names_its_work_and_leaves_nothing_behind(tmp_path):
    target = tmp_path / "f.npy"
    with sole_writer("who", target, "a"):
        assert json.loads((tmp_path / "f.npy.lock").read_text())["work"] == "a"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("work", "says"), [("a", "the same work; wait for it"), ("b", "other work: a; wait")]
)
def test_sole_writer_refuses_a_second_one(tmp_path, work, says):
    target = tmp_path / "f.npy"
    refused = []

    def second():
        with pytest.raises(
            BlockingIOError, match=rf"who: .*f.npy is being written by process .*{says}"
        ) as error:
            sole_writer("who", target, work).__enter__()
        refused.append(error)

    with sole_writer("who", target, "a"):
        second()
        thread = threading.Thread(target=second)  # threads are told apart like processes
        thread.start()
        thread.join()
    assert len(refused) == 2
    with sole_writer("who", target, work):
        pass


def test_sole_writer_takes_over_a_lock_that_nobody_holds(tmp_path):
    (tmp_path / "f.npy.lock").write_text('{"process": 1, "host": "gone", "work": "old"}' + 99 * " ")
    with sole_writer("who", tmp_path / "f.npy", "new"):
        assert json.loads((tmp_path / "f.npy.lock").read_text())["work"] == "new"


def test_sole_writer_refuses_where_the_holder_has_not_given_its_name(tmp_path):
    target = tmp_path / "f.npy"
    with sole_writer("who", target, "a"):
        (tmp_path / "f.npy.lock").write_text("")
        with pytest.raises(BlockingIOError, match="by another process; wait for it or choose another file"):
            sole_writer("who", target, "a").__enter__()


def test_sole_writer_releases_the_lock_after_an_error(tmp_path):
    with pytest.raises(KeyError), sole_writer("who", tmp_path / "f.npy", "a"):
        raise KeyError
    with sole_writer("who", tmp_path / "f.npy", "a"):
        pass
