"""Every named data set against its record; needs the published files."""

import pytest
import torch

from gadc.datasets import card, changed_edges, load
from gadc.datasets._statistics import homophily
from gadc.datasets.named._checksums import check, known
from gadc.datasets.named._loading import assemble
from gadc.datasets.named._registry import REGISTRY

pytestmark = pytest.mark.data
HERE = [name for name, entry in REGISTRY.items() if entry.files]
HOMOPHILY = {
    "cora": 0.810,
    "citeseer": 0.738,
    "pubmed": 0.802,
    "cora-prognn": 0.804,
    "citeseer-prognn": 0.736,
    "cornell-as-published": 0.296,
    "cornell-corrected": 0.123,
    "coauthor-cs": 0.808,
    "coauthor-physics": 0.931,
    "amazon-photo": 0.827,
    "amazon-computers": 0.777,
    "ogbn-arxiv": 0.654,
    "wordnet": 0.709,
}
SIZES = {  # of the usual split, if it is not 60/20/20 %
    "cora": (140, 500, 1000),
    "citeseer": (120, 500, 1000),
    "pubmed": (60, 500, 1000),
    "cora-prognn": (247, 249, 1988),
    "citeseer-prognn": (210, 211, 1688),
    "pubmed-prognn": (1971, 1972, 15774),
    "cora_ml-prognn": (280, 282, 2248),
    "polblogs-prognn": (121, 123, 978),
    "chameleon": (1092, 729, 456),
    "squirrel": (2496, 1664, 1041),
    "chameleon-filtered": (409, 287, 194),
    "squirrel-filtered": (1053, 718, 452),
    "tolokers": (5879, 2939, 2940),
    "minesweeper": (5000, 2500, 2500),
    "ogbn-arxiv": (90941, 29799, 48603),
}
CLASS_SIZES = {
    "cornell-as-published": [33, 1, 18, 101, 30],
    "cornell-corrected": [38, 16, 30, 82, 17],
    "texas": [33, 1, 18, 101, 30],
    "wisconsin": [10, 70, 118, 32, 21],
    "actor": [853, 1337, 1630, 1815, 1965],
}
FLIPS = {  # added + removed, as published with the paper
    ("cora", 0.25): (1264, 3),
    ("cora", 0.5): (2448, 86),
    ("cora", 0.75): (3655, 146),
    ("citeseer", 0.25): (913, 4),
    ("citeseer", 0.5): (1806, 28),
    ("citeseer", 0.75): (2691, 60),
    ("pubmed", 0.25): (10567, 514),
    ("pubmed", 0.5): (19734, 2428),
    ("pubmed", 0.75): (29185, 4058),
}


def masks(data):
    return torch.stack([data["train_mask"], data["val_mask"], data["test_mask"]])


@pytest.mark.parametrize("name", HERE)
def test_card_agrees_with_the_record_and_published_figures(data_folder, name):
    found, entry = card(name), REGISTRY[name]
    assert (found.nodes, found.features, found.classes, found.edges) == (
        entry.nodes,
        entry.features,
        entry.classes,
        entry.edges,
    )
    assert sum(found.class_sizes) + found.unlabelled == found.nodes
    assert min(found.class_sizes) > 0
    if name in HOMOPHILY:
        assert round(found.homophily, 3) == HOMOPHILY[name]
    if name in CLASS_SIZES:
        assert found.class_sizes == CLASS_SIZES[name]
    labelled = found.nodes - found.unlabelled
    fifth = labelled // 5
    sizes = SIZES.get(name, (labelled - 2 * fifth, fifth, fifth))
    assert tuple(found.split[part] for part in ("train", "val", "test")) == sizes


def _loadable():
    """Leave two data sets out, because their dense features take gigabytes; their cards are tested."""
    marks = {"coauthor-cs": pytest.mark.slow}  # half a gigabyte
    names = [name for name in HERE if name not in ("wordnet", "coauthor-physics")]
    return [pytest.param(name, marks=marks.get(name, ())) for name in names]


@pytest.mark.parametrize("name", _loadable())
def test_loaded_graph_is_simple_and_undirected(data_folder, name):
    data = load(name)
    data.validate(raise_on_error=True)
    assert (data.x is None) == (name == "ogbn-arxiv")
    assert data.x is None or (data.x.dtype == torch.float32 and bool(data.x.isfinite().all()))
    assert data.num_nodes == REGISTRY[name].nodes
    assert data.is_coalesced()
    assert not data.has_self_loops()
    assert data.is_undirected()


@pytest.mark.parametrize("name", HERE)
def test_splits_are_disjoint_and_decided_by_the_seed(data_folder, name):
    for split in REGISTRY[name].splits:
        first = assemble(name, split=split)
        assert torch.equal(masks(first), masks(assemble(name, split=split)))
        assert masks(first).sum(0).max() == 1
        assert not masks(first)[:, first["y"] < 0].any()
        if split in ("random", "geom-gcn", "published", "adaptive"):
            assert not torch.equal(masks(first), masks(assemble(name, split=split, seed=1)))
        else:
            with pytest.raises(ValueError, match="seed must be None"):
                assemble(name, split=split, seed=1)


@pytest.mark.parametrize("name", ["cora-prognn", "citeseer-prognn"])
def test_adaptive_splits_have_the_published_sizes(data_folder, name):
    n = REGISTRY[name].nodes
    found = [masks(load(name, split="adaptive", seed=seed)).sum(1).tolist() for seed in range(5)]
    few = int(0.2 * n)
    assert found == [[few // 2, few - few // 2, n - few]] * 5


@pytest.mark.parametrize("name", [name for name, entry in REGISTRY.items() if entry.attacks])
def test_attacked_graphs_differ_by_the_stated_share(data_folder, name):
    clean, num_edges = load(name), REGISTRY[name].edges
    for attack, published in REGISTRY[name].attacks.items():
        for rate in published.files:
            data = load(name, attack=attack, rate=rate)
            assert torch.equal(data.clean_edge_index, clean.edge_index)
            assert data.is_undirected()
            assert not data.has_self_loops()
            added, removed = (pairs.shape[1] for pairs in changed_edges(data))
            if attack == "nettack":  # two targets may share a flip
                budget = int(rate) * len(data.target_nodes)
                assert 0.99 * budget <= added + removed <= budget
            else:
                assert added + removed == int(rate * num_edges)
            if attack == "metattack":
                assert (added, removed) == FLIPS[name.removesuffix("-prognn"), rate]


def test_two_published_metattacks_at_a_quarter_differ(data_folder):
    paper, prognn = (
        load("cora-prognn", attack=attack, rate=0.25) for attack in ("metattack", "metattack-prognn")
    )
    assert not torch.equal(paper.edge_index, prognn.edge_index)


@pytest.mark.parametrize(
    ("name", "split"), [("cora-prognn", None), ("citeseer-prognn", None), ("pubmed-prognn", "nettack")]
)
def test_nettack_targets_are_test_nodes(data_folder, name, split):
    data = load(name, attack="nettack", rate=1, split=split)
    assert data.test_mask[data.target_nodes].all()


def test_pubmed_targets_are_partly_training_nodes_of_the_prognn_split(data_folder):
    data = load("pubmed-prognn", attack="nettack", rate=1)
    counts = masks(data)[:, data.target_nodes].sum(1).tolist()
    assert counts == [14, 17, 155], "the card says so"


@pytest.mark.parametrize(
    ("name", "pairs", "loops"), [("texas", 325, 16), ("cornell-as-published", 298, 3), ("actor", 30019, 93)]
)
def test_directed_edges_are_the_edges_of_the_file(data_folder, name, pairs, loops):
    edges = load(name, directed=True).edge_index
    assert edges.shape[1] == pairs
    assert (edges[0] == edges[1]).sum() == loops == card(name).self_loops_dropped


def test_cornell_as_published_is_texas_on_another_graph(data_folder):
    first, texas, later = (load(name) for name in ("cornell-as-published", "texas", "cornell-corrected"))
    assert torch.equal(first.x, texas.x)
    assert torch.equal(first.y, texas.y)
    assert not torch.equal(first.edge_index, texas.edge_index)
    assert not torch.equal(first.y, later.y)


@pytest.mark.parametrize(("name", "share"), [("cornell-as-published", 0.305), ("cornell-corrected", 0.131)])
def test_homophily_of_cornell_over_listed_edges(data_folder, name, share):
    """The figures that are often quoted count self-loops and repeated edges."""
    data = load(name, directed=True)
    assert round(homophily(data.edge_index.numpy(), data.y.numpy()), 3) == share


def test_citeseer_has_fifteen_nodes_without_features_and_label(data_folder):
    data = load("citeseer")
    assert (data.y < 0).sum() == 15
    assert not data.x[data.y < 0].any()


def test_files_of_the_data_folder_have_the_published_checksums(data_folder):
    here = [path for path in known() if (data_folder / path).is_file()]
    assert here
    for path in here:
        check((data_folder / path).read_bytes(), path)
