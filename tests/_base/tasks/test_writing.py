"""Files of tasks appear whole or not at all, in folders that are made for them."""

import numpy as np
import pytest

from gadc._base.tasks import write_array, write_whole


def test_write_array_makes_folders_and_keeps_the_name(tmp_path):
    write_array(tmp_path / "x" / "slab-0000.npy", np.arange(3))
    assert np.array_equal(np.load(tmp_path / "x" / "slab-0000.npy"), [0, 1, 2])
    assert [path.name for path in (tmp_path / "x").iterdir()] == ["slab-0000.npy"]


def test_write_whole_leaves_nothing_of_a_failed_writer(tmp_path):
    def half(file):
        file.write_text("half")
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        write_whole(tmp_path / "a", half)
    assert list(tmp_path.iterdir()) == []
