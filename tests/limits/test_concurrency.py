"""Threads and processes: the same numbers from several callers at once, and from any number of threads."""

import multiprocessing
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import joblib
import numpy as np
import pytest
import torch

import gadc
from gadc.diffusion import VARIANTS
from gadc.operators import use_backend
from tests.helpers.diffusing import diffused
from tests.helpers.graphs import random_graph

NAMES = list(VARIANTS)


@pytest.fixture(scope="module")
def expected():
    return {variant: diffused(variant) for variant in NAMES}


def test_four_threads_diffuse_at_once(expected):
    start = threading.Barrier(4)

    def work(number):
        start.wait(60)
        return {variant: diffused(variant) for variant in NAMES[number:] + NAMES[:number]}

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(work, range(4)):
            for variant in NAMES:
                assert np.array_equal(found[variant], expected[variant])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_diffuse_after_their_parent_has(expected, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        assert np.array_equal(pool.submit(diffused, "II").result(120), expected["II"])


@pytest.mark.slow
def test_joblib_workers_diffuse(expected):
    for found in joblib.Parallel(n_jobs=2)(joblib.delayed(diffused)("IV") for _ in range(2)):
        assert np.array_equal(found, expected["IV"])


@pytest.fixture
def _restored_threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("_restored_threads")
@pytest.mark.parametrize("backend", ["torch", "numba"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("variant", ["plain", "I", "III", "IV"])
def test_sparse_transitions_give_equal_bits_with_one_and_two_threads(variant, dtype, backend):
    graph = random_graph(800, 20_000, 48, seed=1)
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        with use_backend(backend):
            found.append(
                gadc.diffuse(
                    graph.x.to(dtype),
                    graph.edge_index,
                    variant=variant,
                    lam=2.0,
                    num_steps=4,
                    check_convergence=False,
                )
            )
    assert torch.equal(*found)


@pytest.mark.usefixtures("_restored_threads")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("variant", NAMES)
def test_back_ends_and_threads_differ_by_rounding_only(variant, dtype):
    graph = random_graph(600, 20_000, 48, seed=1)
    found = []
    for threads, backend in ((1, "torch"), (2, "torch"), (1, "numba"), (2, "numba")):
        torch.set_num_threads(threads)
        with use_backend(backend):
            found.append(
                gadc.diffuse(
                    graph.x.to(dtype),
                    graph.edge_index,
                    variant=variant,
                    lam=2.0,
                    num_steps=4,
                    eps=0.5,
                    check_convergence=False,
                )
            )
    bound = 8 * torch.finfo(dtype).eps * found[0].norm()
    for other in found[1:]:
        assert (other - found[0]).norm() <= bound
