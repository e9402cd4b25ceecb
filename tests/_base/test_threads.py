"""Small products run in one thread, and the usual number of threads comes back."""

import threading

import pytest
import torch

from gadc._base.threads import MIN_MULTIPLICATIONS, threads_for


@pytest.fixture(autouse=True)
def _two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_small_products_run_in_one_thread():
    with threads_for(10):
        assert torch.get_num_threads() == 1
        with threads_for(10):
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2


def test_large_products_keep_the_usual_number_of_threads():
    with threads_for(MIN_MULTIPLICATIONS):
        assert torch.get_num_threads() == 2


def test_the_number_of_threads_is_restored_after_an_error():
    with pytest.raises(KeyError), threads_for(1):
        raise KeyError
    assert torch.get_num_threads() == 2


def test_threads_that_overlap_all_restore_the_usual_number():
    """The last to leave entered while the setting was 1."""
    first_inside, second_inside, first_left = (threading.Event() for _ in range(3))
    seen = {}

    def first():
        with threads_for(1):
            first_inside.set()
            second_inside.wait(30)
        seen["first"] = torch.get_num_threads()
        first_left.set()

    def second():
        first_inside.wait(30)
        with threads_for(1):
            second_inside.set()
            first_left.wait(30)
        seen["second"] = torch.get_num_threads()

    workers = [threading.Thread(target=one) for one in (first, second)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert seen == {"first": 2, "second": 2}
    assert torch.get_num_threads() == 2
