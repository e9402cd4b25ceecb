"""`load` on a tiny data set, and the errors it gives."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import sparse

from gadc.datasets import ChecksumError, DatasetNotFoundError, card, digits, load, names
from gadc.datasets.named import _loading as loading
from gadc.datasets.named._registry import REGISTRY
from tests.helpers.planetoid import TINY


def test_load_returns_tensors_and_the_usual_split(tiny):
    data = load("tiny", root=tiny)
    data.validate(raise_on_error=True)
    assert (data.x.dtype, data.y.dtype) == (torch.float32, torch.int64)
    assert data.x.shape == (7, 2)
    assert data.edge_index.shape == (2, 12)
    assert data.train_mask.tolist() == [True, True, False, False, False, False, False]
    assert not (data.val_mask | data.test_mask | data.train_mask)[5], "node 5 has no label"


def test_load_keeps_sparse_features_without_making_them_dense(tiny, monkeypatch):
    dense = load("tiny", root=tiny).x
    monkeypatch.setattr("gadc._base.csr._SHARE", 1.0)  # the tiny features have only two columns
    monkeypatch.setattr(sparse.csr_array, "toarray", None, raising=False)
    x = load("tiny", root=tiny, sparse_features=True).x
    assert (x.layout, x.dtype) == (torch.sparse_csr, torch.float32)
    assert torch.equal(x.to_dense(), dense)


def test_load_returns_dense_features_if_many_entries_are_not_zero(tiny):
    x = load("tiny", root=tiny, sparse_features=True).x
    assert torch.equal(x, load("tiny", root=tiny).x)
    assert load("digits", sparse_features=True).x.layout == torch.strided


def test_load_reads_the_folder_in_the_environment(tiny, monkeypatch):
    monkeypatch.setenv("GADC_DATA", str(tiny))
    assert load("tiny").num_nodes == 7


def test_loaded_data_can_be_changed_without_changing_the_store(tiny):
    for _ in range(2):  # the first comes from the files, the second from the store
        data = load("tiny", root=tiny)
        assert data.edge_index[0, 0] == 0
        data.edge_index.fill_(6)
        data.x.zero_()
        data.y.zero_()
    assert load("tiny", root=tiny).y.tolist() == [0, 1, 0, 1, 0, -1, 1]


def test_load_from_the_store_needs_no_files(tiny, tmp_path):
    first = load("tiny", root=tiny)
    (tmp_path / "empty").mkdir()
    again = load("tiny", root=tmp_path / "empty")
    assert torch.equal(first.x, again.x)
    assert torch.equal(first.edge_index, again.edge_index)


@pytest.mark.parametrize("warm", [False, True])
def test_tampered_file_is_refused_before_it_is_parsed(tiny, monkeypatch, warm):
    if warm:
        load("tiny", root=tiny)
    file = tiny / TINY[-1]
    file.write_bytes(file.read_bytes() + b"\n")

    def parse(*contents):
        raise AssertionError("parsed")

    monkeypatch.setitem(REGISTRY, "tiny", _with(read=parse))
    with pytest.raises(ChecksumError, match=TINY[-1]):
        load("tiny", root=tiny)


def _with(**changes):
    return replace(REGISTRY["tiny"], **changes)


@pytest.mark.parametrize("what", ["nodes", "features", "classes", "edges"])
def test_load_checks_the_size_of_the_graph(tiny, monkeypatch, what):
    monkeypatch.setitem(REGISTRY, "tiny", _with(**{what: 99}))
    with pytest.raises(ValueError, match=f"tiny: the graph must have 99 {what}, got"):
        load("tiny", root=tiny)


def test_load_directed_keeps_directions_and_self_loops(tiny, monkeypatch):
    edges = load("tiny", root=tiny, directed=True).edge_index
    assert edges.shape == (2, 13), "the self-loop is listed"
    assert (edges[0] == edges[1]).sum() == 1
    monkeypatch.setitem(REGISTRY, "tiny", _with(directed=False))
    with pytest.raises(ValueError, match="directed must be False"):
        load("tiny", root=tiny, directed=True)


def test_load_without_files_names_the_download_command(tiny):
    with pytest.raises(DatasetNotFoundError, match="gadc data get tiny"):
        load("tiny")


def test_unknown_name_lists_all_names():
    with pytest.raises(ValueError, match="got 'corra'") as error:
        load("corra")
    assert all(name in str(error.value) for name in names())


def test_name_cornell_is_refused_with_both_choices():
    with pytest.raises(ValueError, match=r"cornell-as-published.*cornell-corrected"):
        load("cornell")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "publik"}, "split must be one of 'public', 'random', got 'publik'"),
        ({"attack": "metattack", "rate": 0.25}, "no attacked version"),
        ({"rate": 0.25}, "rate goes with an attack"),
        ({"seed": 3}, "seed must be None"),
    ],
)
def test_load_refuses_choices_that_do_not_exist(tiny, options, message):
    with pytest.raises(ValueError, match=message):
        load("tiny", root=tiny, **options)


def test_load_digits_needs_no_files(tiny):
    data, expected = load("digits", seed=3), digits(seed=3)
    assert torch.equal(data.x, expected.x)
    assert torch.equal(data.train_mask, expected.train_mask)
    assert card("digits").nodes == 1797


def test_load_keeps_dense_features(tiny, monkeypatch):
    """As for ogbn-products: no files, no store, dense features."""
    graph = loading.read_raw_graph("tiny", loading.Sources(root=tiny))
    dense = replace(graph, x=np.ones((7, 2), dtype=np.float32))
    monkeypatch.setitem(REGISTRY, "tiny", _with(read=None))
    monkeypatch.setattr(loading, "read_products", lambda sources: dense)
    assert (load("tiny").x == 1).all()


def test_card(tiny):
    found = card("tiny", root=tiny)
    assert (found.nodes, found.edges, found.self_loops_dropped, found.isolated_nodes) == (7, 6, 1, 0)
    assert (found.mean_degree, found.max_degree) == (12 / 7, 2)
    assert found.homophily == 0.0
    assert found.class_sizes == [3, 3]
    assert found.unlabelled == 1
    assert {key: found.split[key] for key in ("train", "val", "test")} == {"train": 2, "val": 2, "test": 2}
    assert card("tiny", root=tiny, split="random", seed=1).split["hash"] != found.split["hash"]
