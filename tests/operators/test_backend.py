"""Which back end is taken, and how that is remembered."""

import json
import subprocess
import sys

import pytest
import torch

from gadc.operators import _backend as backend
from gadc.operators._backend import use_backend, uses_numba

LARGE = 1 << 30


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GADC_CACHE", str(tmp_path))
    monkeypatch.delenv("GADC_KERNELS", raising=False)
    backend._fastest.cache_clear()
    yield
    backend._fastest.cache_clear()


def test_it_is_measured_once_and_remembered(monkeypatch: pytest.MonkeyPatch):
    asked = []
    monkeypatch.setattr(backend, "_measure", lambda: asked.append(1) or "numba")
    assert uses_numba(LARGE, torch.ones(1))
    assert list(json.loads(backend.cache_file().read_text()).values()) == ["numba"]
    backend._fastest.cache_clear()  # as another process would find it
    assert uses_numba(LARGE, torch.ones(1))
    assert len(asked) == 1


@pytest.mark.parametrize("content", ["", "{", "[]", '{"a": 1}', "\x00"])
def test_a_broken_file_is_replaced(monkeypatch: pytest.MonkeyPatch, content: str):
    backend.cache_file().write_text(content)
    monkeypatch.setattr(backend, "_measure", lambda: "torch")
    assert not uses_numba(LARGE, torch.ones(1))
    assert "torch" in json.loads(backend.cache_file().read_text()).values()


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GADC_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(backend, "_measure", lambda: "numba")
    assert uses_numba(LARGE, torch.ones(1))


def test_the_measurement_names_one_of_the_two():
    assert backend._measure() in backend.BACKENDS


def test_what_numba_never_gets(monkeypatch: pytest.MonkeyPatch):
    with use_backend("numba"):
        assert uses_numba(1, torch.ones(1))
        assert not uses_numba(1, torch.ones(1, dtype=torch.float16))
        assert not uses_numba(1, torch.ones(1, dtype=torch.bfloat16))
        assert not uses_numba(1, torch.ones(1, device="meta"))
        assert not uses_numba(1, torch.ones(1), torch.ones(1, dtype=torch.float64))
    monkeypatch.setattr(backend, "_measure", lambda: "numba")
    assert not uses_numba(100, torch.ones(1))  # too small to matter


def test_environment_and_function_decide(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GADC_KERNELS", "numba")
    assert uses_numba(1, torch.ones(1))
    with use_backend("torch"):
        assert not uses_numba(LARGE, torch.ones(1))
        with use_backend("numba"):
            assert uses_numba(1, torch.ones(1))
        assert not uses_numba(LARGE, torch.ones(1))
    use_backend("torch")
    assert not uses_numba(LARGE, torch.ones(1))
    use_backend(None)
    assert uses_numba(1, torch.ones(1))
    monkeypatch.setenv("GADC_KERNELS", "fortran")
    with pytest.raises(
        ValueError, match="GADC_KERNELS: the back end must be one of torch, numba, got 'fortran'"
    ):
        uses_numba(1, torch.ones(1))
    with pytest.raises(ValueError, match=r"use_backend: .* got 'fortran'"):
        use_backend("fortran")


def test_importing_the_package_does_not_import_numba():
    code = "import sys, gadc; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
