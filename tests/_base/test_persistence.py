"""Models on disk: what is written comes back, and other, truncated or damaged files are refused."""

import json
import os

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_tensors

from gadc._base import persistence

SETTINGS = {"a": [1, "é"], "b": None}
ARRAYS = {"w": np.arange(6.0).reshape(2, 3), "k": np.array([1, 2], dtype=np.int32)}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.gadc"
    persistence.write(path, "Thing", SETTINGS, ARRAYS)
    return path


def _rewrite(path, *, view=None, **changes):
    """Change entries of the header as another version would have written them, or the type of all arrays."""
    with persistence.safe_open(os.fspath(path), framework="np") as file:
        header = json.loads(file.metadata()["gadc"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if view is not None:
        arrays = {name: array.view(view) for name, array in arrays.items()}
    save_file(arrays, path, metadata={"gadc": json.dumps({**header, **changes})})


def _assert_same(settings, arrays):
    assert settings == SETTINGS
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype


def test_settings_and_arrays_come_back(path):
    _assert_same(*persistence.read(path, "Thing"))


def test_arrays_in_any_order_and_numpy_scalars_are_written(path):
    array = np.arange(6.0).reshape(2, 3).T
    persistence.write(path, "Thing", {"n": np.int64(3), "x": np.float32(0.5)}, {"w": array})
    settings, arrays = persistence.read(path, "Thing")
    assert settings == {"n": 3, "x": 0.5}
    np.testing.assert_array_equal(arrays["w"], array)


def test_settings_that_are_not_json_leave_the_old_file(path):
    with pytest.raises(TypeError, match="settings must be JSON values, got set"):
        persistence.write(path, "Thing", {"a": {1}}, {})
    _assert_same(*persistence.read(path, "Thing"))


@pytest.mark.parametrize("keep", [0, 1, 8, 100, -1])
def test_truncated_files_are_refused(path, keep):
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match="is truncated or not a safetensors file"):
        persistence.read(path, "Thing")


@given(st.data())
def test_a_changed_bit_is_noticed_or_changes_nothing(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("models") / "model"
    persistence.write(path, "Thing", SETTINGS, ARRAYS)
    content = bytearray(path.read_bytes())
    where = data.draw(st.integers(0, len(content) - 1))
    content[where] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    try:
        found = persistence.read(path, "Thing")
    except ValueError:
        return
    _assert_same(*found)  # the bit was in the recorded version of gadc or in a space of the JSON


def test_the_same_bytes_as_another_type_are_refused(path):
    persistence.write(path, "Thing", {}, {"w": np.arange(6.0)})
    _rewrite(path, view=np.int64)
    with pytest.raises(ValueError, match="does not match its checksum"):
        persistence.read(path, "Thing")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"format_version": 4, "gadc_version": "9.9"},
            r"must have format version 1 or 2 or 3, got 4 \(written by gadc '9.9'",
        ),
        ({"kind": "Tree"}, "must hold a Thing, got 'Tree'"),
        ({"settings": "{}"}, "does not match its checksum"),
        ({"settings": None}, "does not match its checksum"),
    ],
)
def test_other_versions_kinds_and_settings_are_refused(path, changes, message):
    _rewrite(path, **changes)
    with pytest.raises(ValueError, match=message):
        persistence.read(path, "Thing")


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (None, "not a model of gadc"),
        ({"gadc": "{"}, "header is not JSON"),
        ({"gadc": "[]"}, "must be a JSON object"),
    ],
)
def test_other_safetensors_files_are_refused(path, metadata, message):
    save_file({"a": np.ones(2)}, path, metadata=metadata)
    with pytest.raises(ValueError, match=message):
        persistence.read(path, "Thing")


def test_files_of_the_first_format_version_are_read(path):
    _rewrite(path, format_version=1)
    _assert_same(*persistence.read(path, "Thing"))


def test_settings_nested_without_end_are_refused(path):
    deep = "[" * 100_000
    _rewrite(path, settings=deep, sha256=persistence._checksum("Thing", deep, ARRAYS))
    with pytest.raises(ValueError, match="the text of its settings is not JSON"):
        persistence.read(path, "Thing")


def test_a_header_nested_without_end_is_refused(path):
    save_file(ARRAYS, path, metadata={"gadc": "[" * 100_000})
    with pytest.raises(ValueError, match="its header is not JSON"):
        persistence.read(path, "Thing")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn])
def test_types_of_tensors_that_numpy_does_not_have_are_refused(path, dtype):
    save_tensors({"w": torch.ones(2).to(dtype)}, path, metadata={"gadc": "{}"})
    with pytest.raises(ValueError, match=r"^read: .*model.gadc (holds a type|is |must have format version)"):
        persistence.read(path, "Thing")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="must be a file, got a folder"):
        persistence.read(tmp_path, "Thing")
