"""The memory limit: parsed from the environment, read from the system, and refused with figures."""

import pytest

from gadc._base import memory
from gadc._base.memory import MemoryLimitError, available_memory, check_memory, format_bytes, parse_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [("8GB", 8 * 10**9), ("1.5 GiB", 3 * 2**29), ("500 mb", 5 * 10**8), ("2000000", 2_000_000), ("1k", 1000)],
)
def test_parse_bytes_reads_sizes_with_units(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["much", "8 XB", "-1GB", "8iB", "nan"])
def test_available_memory_refuses_limits_that_are_not_sizes(monkeypatch, text):
    monkeypatch.setenv("GADC_MAX_MEMORY", text)
    with pytest.raises(ValueError, match='GADC_MAX_MEMORY must be a size such as "8GB", got'):
        available_memory()


def test_check_memory_refuses_with_the_figures(monkeypatch):
    monkeypatch.setenv("GADC_MAX_MEMORY", "20.1GB")
    message = r"^diffuse: x needs about 35\.2 GB, and 20\.1 GB are available; set GADC_MAX_MEMORY to change"
    with pytest.raises(MemoryLimitError, match=message) as caught:
        check_memory("diffuse", 35.2e9, "x")
    assert isinstance(caught.value, MemoryError)
    assert isinstance(caught.value, ValueError)
    check_memory("diffuse", 20e9, "x")


def test_check_memory_asks_the_system_without_a_limit(monkeypatch):
    monkeypatch.delenv("GADC_MAX_MEMORY", raising=False)
    assert available_memory() > 2**24
    check_memory("diffuse", 2**24, "x")
    with pytest.raises(MemoryLimitError):
        check_memory("diffuse", 1e18, "x")


@pytest.mark.parametrize("version", [1, 2])
def test_available_memory_respects_the_limits_of_control_groups(monkeypatch, version):
    root = "/sys/fs/cgroup" if version == 2 else "/sys/fs/cgroup/memory"
    limit, used = ("max", "current") if version == 2 else ("limit_in_bytes", "usage_in_bytes")
    files = {
        "/proc/meminfo": "MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n",
        "/proc/self/cgroup": "0::/a/b\n" if version == 2 else "4:memory:/a/b\n3:cpu:/a\n",
        f"{root}/a/memory.{limit}": "5000000\n",
        f"{root}/a/memory.{used}": "4000000\n",
        f"{root}/a/memory.stat": "anon 7\ninactive_file 500000\n",
        f"{root}/a/b/memory.{limit}": "max\n",
        f"{root}/a/b/memory.{used}": "1\n",
    }
    monkeypatch.delenv("GADC_MAX_MEMORY", raising=False)
    monkeypatch.setattr(memory, "_read", lambda path: files.get(str(path), ""))
    assert available_memory() == 1_500_000


def test_format_bytes_chooses_the_unit():
    texts = [format_bytes(size) for size in (500, 2e6, 3.52e10, 4e12)]
    assert texts == ["0.5 kB", "2.0 MB", "35.2 GB", "4.0 TB"]
