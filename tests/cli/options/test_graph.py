"""The graph and the split of a named data set, as the options choose them."""

import pytest
import torch

from gadc.cli._options.graph import GraphOptions
from gadc.cli._options.split_graph import SplitGraphOptions
from gadc.datasets import digits, load


@pytest.mark.parametrize(("split", "seed"), [(None, 0), ("random", 0), ("random:3", 3)])
def test_the_split_does_not_depend_on_the_seed_option(split, seed):
    data = GraphOptions(data="digits", split=split, seed=9).read()
    assert torch.equal(data.train_mask, digits(seed=seed).train_mask)


@pytest.mark.data
def test_published_splits_are_chosen_by_number():
    for split, expected in {
        None: load("texas"),
        "geom-gcn": load("texas", split="geom-gcn"),
        "geom-gcn:3": load("texas", split="geom-gcn", seed=3),
    }.items():
        data = GraphOptions(data="texas", split=split).read()
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
def test_an_invalid_split_is_refused(split, message):
    with pytest.raises(ValueError, match=message):
        GraphOptions(data="digits", split=split).read()


@pytest.mark.parametrize(("split", "same"), [("random", False), ("random:3", True)])
def test_the_seed_draws_the_split_of_an_audit_unless_it_is_numbered(split, same):
    graph = SplitGraphOptions(data="digits", split=split)
    first, second = (graph.read_split(seed).train_mask for seed in (0, 9))
    assert torch.equal(first, second) == same


def test_fit_learns_from_the_chosen_split(run_json, tmp_path):
    quick = ("--variant", "plain", "--num-steps", "1", "-o", tmp_path / "model")
    found = run_json("fit", "--data", "digits", "--split", "random:2", *quick)
    assert found["labels"] == int((digits(seed=2).train_mask | digits(seed=2).val_mask).sum())
