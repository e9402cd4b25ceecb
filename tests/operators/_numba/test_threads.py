"""Ranges of rows, and products from several threads and after a fork."""

import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gadc.operators._numba import csr, threads
from gadc.operators._torch import csr as torch_csr
from tests.helpers.patterns import make_pattern


@pytest.fixture
def _three_threads(monkeypatch):
    monkeypatch.setattr(threads, "_MIN_WORK", 1)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@given(st.lists(st.integers(0, 50), min_size=1), st.integers(1, 8))
def test_ranges_cover_all_rows_once_and_in_order(lengths, count):
    ranges = threads.ranges_of(np.concatenate([[0], np.cumsum(lengths)]), count)
    assert [row for a, b in ranges for row in range(a, b)] == list(range(len(lengths)))
    assert len(ranges) <= count


@pytest.mark.usefixtures("_three_threads")
def test_run_does_all_jobs_and_raises_their_error():
    done = []
    threads.run([lambda i=i: done.append(i) for i in range(20)])
    assert sorted(done) == list(range(20))

    def fail():
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        threads.run([fail, lambda: None])


@pytest.mark.usefixtures("_three_threads")
def test_products_can_be_called_from_several_threads():
    pattern = make_pattern("random")
    values, dense = torch.randn(pattern.nnz), torch.randn(pattern.num_cols, 20)
    expected = torch_csr.spmm(pattern, values, dense)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: csr.spmm(pattern, values, dense), range(16)))
    for result in results:
        torch.testing.assert_close(result, expected)


def _product_in_child(queue) -> None:
    pattern = make_pattern("random")
    threads._MIN_WORK = 1
    values, dense = torch.ones(pattern.nnz), torch.ones(pattern.num_cols, 3)
    queue.put(float(csr.spmm(pattern, values, dense).sum()))


@pytest.mark.usefixtures("_three_threads")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # threads are alive, which is tested here
def test_products_work_in_a_child_that_was_forked_after_the_first_product():
    pattern = make_pattern("random")
    csr.spmm(pattern, torch.ones(pattern.nnz), torch.ones(pattern.num_cols, 3))
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_product_in_child, args=(queue,))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert queue.get() == 3.0 * pattern.nnz
