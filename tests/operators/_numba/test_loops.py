"""Loops are compiled whatever state their cache on disk is in."""

import pytest
from numba.core import caching

from gadc.operators._numba.loops import compiled
from tests.helpers.full_disk import full_disk


@pytest.fixture
def double(monkeypatch, tmp_path):
    """Return a function that is cached in an empty folder."""

    class Locator(caching._SourceFileBackedLocatorMixin, caching._CacheLocator):
        def __init__(self, py_func, py_file):
            self._py_file, self._lineno = py_file, py_func.__code__.co_firstlineno

        def get_cache_path(self):
            return str(tmp_path)

        def get_disambiguator(self):
            return str(self._lineno)

        @classmethod
        def from_function(cls, py_func, py_file):
            return cls(py_func, py_file)

    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [Locator])
    return lambda x: x + x


def test_compiled_stores_the_machine_code(double, tmp_path):
    assert compiled(double)(2) == 4
    assert {file.suffix for file in tmp_path.iterdir()} == {".nbi", ".nbc"}


def test_compiled_works_without_a_folder_to_cache_in(double, monkeypatch):
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    assert compiled(double)(2) == 4


def test_compiled_works_on_a_full_disk(double, tmp_path):
    with full_disk(10):
        assert compiled(double)(2) == 4
    assert not list(tmp_path.iterdir())


def test_compiled_replaces_a_damaged_cache(double, tmp_path):
    assert compiled(double)(2) == 4
    (index,) = tmp_path.glob("*.nbi")
    whole = index.stat().st_size
    index.write_bytes(b"")
    again = compiled(double)
    assert again(2) == 4
    assert index.stat().st_size == whole
