"""Exact counts of label noise, and graphs that it refuses."""

import math

import pytest
import torch
from torch_geometric.data import Data

from gadc.transforms import LabelNoise
from tests.helpers.ring import ring


def test_label_noise_moves_the_exact_share_of_training_nodes_to_another_class():
    data = ring(400)
    data.y[:10] = -1
    out = LabelNoise(rate=0.3, seed=4)(data)
    moved = out.y != data.y
    assert int(moved.sum()) == math.floor(0.3 * 190 + 0.5)
    assert bool(data.train_mask[moved].all())
    assert bool((data.y[moved] >= 0).all())
    assert set(out.y[moved].tolist()) == {0, 1, 2}
    assert torch.equal(out.clean_y, data.y)


def test_label_noise_reaches_all_other_classes_equally_often():
    n = 30_000
    data = Data(y=torch.zeros(n, dtype=torch.int64), train_mask=torch.ones(n, dtype=torch.bool), num_nodes=n)
    data.class_names = ["a", "b", "c", "d"]
    counts = torch.bincount(LabelNoise(rate=1.0)(data).y, minlength=4)
    assert counts[0] == 0
    assert (counts[1:] / n).tolist() == pytest.approx([1 / 3] * 3, abs=0.02)


def test_label_noise_needs_labels_one_split_and_two_classes():
    data = ring()
    with pytest.raises(ValueError, match="y and train_mask"):
        LabelNoise(rate=0.1)(Data(x=data.x, edge_index=data.edge_index))
    data.train_mask = data.train_mask[:, None].repeat(1, 10)
    with pytest.raises(ValueError, match="choose one split"):
        LabelNoise(rate=0.1)(data)
    data = ring()
    data.y = torch.zeros_like(data.y)
    with pytest.raises(ValueError, match="two classes"):
        LabelNoise(rate=0.1)(data)
