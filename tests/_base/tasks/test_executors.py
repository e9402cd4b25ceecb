"""An address names an executor; anything else is refused with the reason."""

import socket

import pytest

from gadc._base.tasks import _executors, open_executor


def test_open_executor_without_an_address_is_none():
    with open_executor(None) as executor:
        assert executor is None


@pytest.mark.parametrize("address", ["local:0", "local", "localhost:8786", "http://host:1", ""])
def test_open_executor_refuses_other_addresses(address):
    with pytest.raises(ValueError, match="must be local:NUMBER or tcp://HOST:PORT"), open_executor(address):
        pass


def test_open_executor_says_that_there_is_no_scheduler(monkeypatch):
    monkeypatch.setattr("gadc._base.tasks._executors._CONNECT_SECONDS", 0.2)
    with socket.socket() as opened:  # nobody listens at this port
        opened.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{opened.getsockname()[1]}"
        with pytest.raises(ConnectionError, match="there is no Dask scheduler at"), open_executor(address):
            pass


def test_local_workers_share_the_cores(monkeypatch):
    found = []
    monkeypatch.setattr("torch.get_num_threads", lambda: 7)
    monkeypatch.setattr("torch.set_num_threads", found.append)
    for count in (1, 3, 16):
        _executors._start_worker(count)
    assert found == [7, 2, 1]
