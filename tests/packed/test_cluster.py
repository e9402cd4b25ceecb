"""A real Dask cluster of processes: the results of one process, also when a worker is killed."""

import logging
import os
import signal
from contextlib import suppress
from multiprocessing import Pipe

import dask
import numpy as np
import polars as pl
import pytest
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context

from gadc import packed
from gadc._base.tasks import open_executor
from gadc.datasets import csbm
from tests.faults.cluster import main


@pytest.fixture(scope="module")
def cluster():
    """Start two workers, forks of a process that has imported the library once."""
    with dask.config.set(
        {
            "distributed.worker.multiprocessing-method": "forkserver",
            "distributed.scheduler.allowed-failures": 5,
            "distributed.comm.timeouts.connect": "60s",
        }
    ):
        # Dask sets its own list once; here workers should also find this library imported.
        get_mp_context().set_forkserver_preload(["distributed", "gadc.packed", "tests.faults.cluster"])
        with LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            worker_dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as found:
            yield found


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    data = csbm(200, num_features=16, seed=0)
    return packed.pack_data(data, tmp_path_factory.mktemp("packed") / "graph", width=2, num_ranges=2)


def test_a_cluster_gives_the_results_of_one_process(tmp_path, cluster, graph):
    settings = {"variant": "III", "lam": 4.0, "num_steps": 4}
    packed.denoise(graph, tmp_path / "alone.csv", **settings)
    with open_executor(cluster.scheduler_address) as executor:
        packed.denoise(graph, tmp_path / "together.csv", executor=executor, **settings)
    assert (tmp_path / "together.csv").read_bytes() == (tmp_path / "alone.csv").read_bytes()


def test_a_worker_killed_in_the_middle_of_a_hop_costs_nothing_but_time(tmp_path, cluster, graph):
    settings = {"variant": "plain", "lam": 64.0, "num_steps": 300}
    expected = packed.diffuse(graph, tmp_path / "alone", **settings).rows()
    with Client(cluster, set_as_default=False) as client:
        processes = client.run(os.getpid)

        def progress(state):
            if state.stage == "hops" and state.tasks_done == 1:  # both workers are busy with further slabs
                os.kill(next(iter(processes.values())), signal.SIGKILL)

        result = packed.diffuse(
            graph, tmp_path / "run", executor=client.get_executor(), progress=progress, **settings
        )
        client.wait_for_workers(2, timeout=60)
        assert set(client.run(os.getpid).values()) != set(processes.values())
    assert np.array_equal(result.rows(), expected)


def test_processes_of_this_machine_give_the_results_of_one_process(tmp_path, graph):
    settings = {"variant": "III", "lam": 4.0, "num_steps": 4}
    expected = packed.diffuse(graph, tmp_path / "alone", **settings).rows()
    with open_executor("local:2") as executor:
        found = packed.diffuse(graph, tmp_path / "together", executor=executor, **settings)
        tables = [pl.DataFrame({"source": [0, 1], "target": [1, 2]}), pl.DataFrame({"id": [0, 1, 2]})]
        there = packed.pack(*tables, tmp_path / "there", executor=executor)
    assert np.array_equal(found.rows(), expected)
    assert there.checksum == packed.pack(*tables, tmp_path / "here").checksum


def _kill_three(sender):
    main(3, 0, tell=sender.send)


@pytest.mark.slow
def test_kills_of_worker_scheduler_and_driver_leave_the_result_as_it_is():
    receiver, sender = Pipe(duplex=False)
    process = get_mp_context().Process(target=_kill_three, args=(sender,))  # a fork that has computed nothing
    process.start()
    sender.close()
    told = []
    with suppress(EOFError):
        while receiver.poll(300):
            told.append(receiver.recv())
    process.join(10)
    assert "3 identical results, 0 failures" in "".join(told), told
