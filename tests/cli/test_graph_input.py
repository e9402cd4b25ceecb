"""The split of a named data set, as the options choose it."""

import pytest
import torch

from gadc.cli._graph_input import GraphInput
from gadc.datasets import digits, load


@pytest.mark.parametrize(("split", "seed"), [(None, 0), ("random", 0), ("random:3", 3)])
def test_a_drawn_split(split, seed):
    data = GraphInput(data="digits", split=split, seed=9).read()
    assert torch.equal(data.train_mask, digits(seed=seed).train_mask)


@pytest.mark.data
def test_published_splits():
    for split, expected in {
        None: load("texas"),
        "geom-gcn": load("texas", split="geom-gcn"),
        "geom-gcn:3": load("texas", split="geom-gcn", seed=3),
    }.items():
        data = GraphInput(data="texas", split=split).read()
        assert all(torch.equal(data[f"{part}_mask"], expected[f"{part}_mask"]) for part in ("train", "test"))


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ("random:", r"--split must be NAME or NAME:NUMBER, got 'random:'"),
        (":3", r"--split must be NAME or NAME:NUMBER, got ':3'"),
        ("random:-1", r"--split must be NAME or NAME:NUMBER, got 'random:-1'"),
        ("public", r"split must be .*'random'.*'public'"),
    ],
)
def test_bad_splits(split, message):
    with pytest.raises(ValueError, match=message):
        GraphInput(data="digits", split=split).read()


def test_fit_learns_from_the_split_that_was_asked_for(run_json, tmp_path):
    quick = ("--variant", "plain", "--steps", "1", "-o", tmp_path / "model")
    found = run_json("fit", "--data", "digits", "--split", "random:2", *quick)
    assert found["labels"] == int((digits(seed=2).train_mask | digits(seed=2).val_mask).sum())
