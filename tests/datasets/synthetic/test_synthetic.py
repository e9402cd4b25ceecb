import math
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from gadc.datasets.synthetic import csbm, digits, power_law
from gadc.datasets.synthetic._csbm import _unrank_pairs

MODELS = {
    "csbm": lambda num_nodes=600, mean_degree=8.0, **knobs: csbm(num_nodes, mean_degree=mean_degree, **knobs),
    "power_law": lambda num_nodes=600, mean_degree=8.0, **knobs: power_law(num_nodes, mean_degree, **knobs),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def degrees(data: Data) -> torch.Tensor:
    return torch.bincount(data.edge_index[0], minlength=data.num_nodes)


def homophily(data: Data) -> float:
    row, col = data.edge_index
    return float((data.y[row] == data.y[col]).double().mean())


def accuracy_of_class_means(data: Data) -> float:
    train = torch.nn.functional.one_hot(data.y[data.train_mask]).float()
    means = train.T @ data.x[data.train_mask] / train.sum(0).unsqueeze(1)
    predicted = torch.cdist(data.x[data.test_mask], means).argmin(1)
    return float((predicted == data.y[data.test_mask]).float().mean())


def check_simple_sorted_undirected(data: Data) -> None:
    row, col = data.edge_index
    assert data.edge_index.dtype == torch.int64
    assert (
        data.edge_index.numel() == 0 or 0 <= data.edge_index.min() <= data.edge_index.max() < data.num_nodes
    )
    assert not (row == col).any()
    forward, backward = row * data.num_nodes + col, col * data.num_nodes + row
    assert (forward[1:] > forward[:-1]).all()  # sorted by row, then column, and no duplicates
    assert torch.equal(backward.sort().values, forward)


def check_masks_partition(data: Data) -> None:
    counts = data.train_mask.long() + data.val_mask.long() + data.test_mask.long()
    assert (counts == 1).all()


def same(a: Data, b: Data) -> bool:
    return all(torch.equal(a[key], b[key]) for key in ("x", "edge_index", "y", "train_mask", "val_mask"))


@every_model
@settings(max_examples=25, deadline=None)
@given(
    num_nodes=st.integers(40, 80),
    num_classes=st.integers(2, 5),
    mean_degree=st.floats(0.01, 3),
    share=st.floats(0, 1),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_sample_is_a_simple_graph(model, num_nodes, num_classes, mean_degree, share, seed):
    data = model(num_nodes, mean_degree, num_classes=num_classes, homophily=share, num_features=3, seed=seed)
    assert data.validate()
    check_simple_sorted_undirected(data)
    check_masks_partition(data)
    assert data.x.shape == (num_nodes, 3)
    assert data.x.dtype == torch.float32
    sizes = torch.bincount(data.y, minlength=num_classes)
    assert sizes.sum() == num_nodes
    assert sizes.max() - sizes.min() <= 1


@every_model
def test_seed_decides_everything(model):
    assert same(model(seed=3), model(seed=3))
    assert not same(model(seed=3), model(seed=4))


@every_model
def test_split_shares(model):
    data = model(split=(0.1, 0.3, 0.6))
    assert [int(data[f"{part}_mask"].sum()) for part in ("train", "val", "test")] == [60, 180, 360]


@every_model
def test_nodes_are_not_ordered_by_class(model):
    y = model(num_classes=2).y
    assert 200 < (y[1:] != y[:-1]).sum() < 400  # 300 expected of 599, standard deviation 12


@every_model
def test_signal_separates_the_classes(model):
    silent, weak, strong = (
        accuracy_of_class_means(model(2000, num_classes=4, num_features=20, signal=signal))
        for signal in (0.0, 2.0, 10.0)
    )
    assert abs(silent - 0.25) < 0.1
    assert silent + 0.2 < weak < strong - 0.05
    assert strong > 0.99


@every_model
@pytest.mark.parametrize("num_classes", [3, 40], ids=["orthogonal", "more classes than features"])
def test_features_are_unit_noise_around_means_of_length_signal(model, num_classes):
    data = model(8000, num_classes=num_classes, num_features=10, signal=5.0)
    means = torch.stack([data.x[data.y == c].mean(0) for c in range(num_classes)])
    assert torch.allclose(means.norm(dim=1), torch.tensor(5.0), atol=0.5)
    assert torch.allclose((data.x - means[data.y]).std(0), torch.tensor(1.0), atol=0.05)
    if num_classes == 3:
        assert torch.allclose(means @ means.T, 25 * torch.eye(3), atol=2.0)


@every_model
@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"num_nodes": 1}, "num_nodes must be >= num_classes"),
        ({"num_classes": 0}, "num_classes must be >= 1"),
        ({"mean_degree": 0}, "mean_degree must lie in"),
        ({"mean_degree": math.nan}, "mean_degree must lie in"),
        ({"mean_degree": 600}, "mean_degree must lie in"),
        ({"homophily": 1.1}, "homophily must lie in"),
        ({"homophily": math.nan}, "homophily must lie in"),
        ({"num_classes": 1}, "edges across classes"),
        ({"mean_degree": 500.0, "homophily": 1.0}, "edges inside classes"),
        ({"signal": -1.0}, "signal must be >= 0"),
        ({"signal": math.inf}, "signal must be >= 0"),
        ({"num_features": 0}, "num_features must be >= 1"),
        ({"split": (0.6, 0.3, 0.2)}, "split must be three shares"),
        ({"split": (0.6, 0.6, -0.2)}, "split must be three shares"),
        ({"split": (0.6, 0.4)}, "split must be three shares"),
    ],
)
def test_bad_knobs_are_refused(model, knobs, message):
    with pytest.raises(ValueError, match=message):
        model(**{"num_classes": 2, **knobs})


@settings(max_examples=15, deadline=None)
@given(
    num_classes=st.integers(2, 6),
    mean_degree=st.floats(2, 30),
    share=st.floats(0, 1),
    seed=st.integers(0, 2**32 - 1),
)
def test_csbm_degree_and_homophily_are_within_sampling_error(num_classes, mean_degree, share, seed):
    data = csbm(2000, num_classes=num_classes, mean_degree=mean_degree, homophily=share, seed=seed)
    expected_edges = 1000 * mean_degree
    num_edges = data.num_edges / 2
    assert abs(num_edges - expected_edges) < 6 * math.sqrt(expected_edges)
    assert abs(homophily(data) - share) < 6 * math.sqrt(share * (1 - share) / num_edges) + 1e-9


def test_csbm_edges_have_equal_chances():
    num_samples, counts = 600, torch.zeros(7, 7)
    expected = torch.zeros(7, 7)
    for seed in range(num_samples):
        data = csbm(7, mean_degree=3.0, homophily=0.6, proportions=[3, 4], seed=seed)
        counts[tuple(data.edge_index)] += 1
        inside = data.y.unsqueeze(0) == data.y.unsqueeze(1)
        # 9 pairs inside the classes of 3 and 4 nodes, 12 across, 10.5 edges.
        expected += torch.where(inside, 0.6 * 10.5 / 9, 0.4 * 10.5 / 12).fill_diagonal_(0)
    assert ((counts - expected).abs() < 5 * math.sqrt(num_samples) / 2).all()


def test_csbm_reaches_the_complete_graph():
    assert csbm(50, num_classes=1, homophily=1.0, mean_degree=49).num_edges == 50 * 49
    two = csbm(6, homophily=0.4, mean_degree=5.0)  # 6 pairs inside of 15
    assert two.num_edges == 30


@pytest.mark.parametrize("i", [1, 2, 3, 1000, 94_906_267, 2_000_000_011])
def test_csbm_unranks_pairs_where_the_square_root_rounds(i):
    first = i * (i - 1) // 2
    rows, columns = _unrank_pairs(np.array([first, first + i - 1]))
    assert rows.tolist() == [i, i]
    assert columns.tolist() == [0, i - 1]


def test_csbm_class_proportions():
    data = csbm(1000, num_classes=3, proportions=[5, 3, 2])
    assert torch.bincount(data.y).tolist() == [500, 300, 200]


@pytest.mark.parametrize(
    ("proportions", "message"),
    [
        ([1, 2, 3], "proportions must be 2 positive"),
        ([1, 0], "proportions must be 2 positive"),
        ([1, 1e-9], "every class needs a node"),
    ],
)
def test_csbm_bad_proportions(proportions, message):
    with pytest.raises(ValueError, match=message):
        csbm(100, proportions=proportions)


@settings(max_examples=15, deadline=None)
@given(
    num_classes=st.integers(2, 6),
    mean_degree=st.floats(2, 30),
    share=st.floats(0, 1),
    exponent=st.floats(2.05, 5),
    seed=st.integers(0, 2**32 - 1),
)
def test_power_law_edge_count_and_homophily_are_exact(num_classes, mean_degree, share, exponent, seed):
    data = power_law(
        2000,
        mean_degree,
        num_classes=num_classes,
        homophily=share,
        exponent=exponent,
        num_features=2,
        seed=seed,
    )
    num_edges = round(1000 * mean_degree)
    assert data.num_edges == 2 * num_edges
    assert homophily(data) == pytest.approx(round(share * num_edges) / num_edges, abs=1e-12)


@pytest.mark.parametrize("exponent", [2.2, 2.5, 3.0])
def test_power_law_degrees_follow_the_exponent(exponent):
    degree = degrees(power_law(60_000, 20, exponent=exponent, num_features=1)).double().numpy()
    low, high = 60, 400  # above the Poisson noise of small degrees, below the cut at √(60 000 · 20) ≈ 1 095
    # The share of degrees ≥ k falls like k^(1 - γ), less the part that the cut takes away.
    cut = 1095.0 ** (1 - exponent)
    expected = (high ** (1 - exponent) - cut) / (low ** (1 - exponent) - cut)
    assert (degree >= high).sum() / (degree >= low).sum() == pytest.approx(expected, rel=0.25)


def test_power_law_tail_is_heavier_than_poisson():
    heavy = degrees(power_law(5000, 10, num_features=1))
    light = degrees(csbm(5000, mean_degree=10))
    assert light.double().var() / light.double().mean() < 1.3
    assert heavy.double().var() / heavy.double().mean() > 5
    assert heavy.max() > 4 * light.max()
    assert heavy.max() < 1.2 * math.sqrt(5000 * 10)


def test_power_law_expected_degree_does_not_depend_on_the_class():
    data = power_law(40_000, 20, exponent=4.0, num_classes=4, homophily=0.3, num_features=1)
    per_class = [degrees(data)[data.y == c].double().mean().item() for c in range(4)]
    assert per_class == pytest.approx([20] * 4, rel=0.05)


def test_power_law_single_node():
    data = power_law(1, 0.5, num_classes=1, homophily=1.0)
    assert (data.num_nodes, data.num_edges) == (1, 0)


def test_power_law_gives_up_when_draws_only_repeat(monkeypatch):
    monkeypatch.setattr(sys.modules[power_law.__module__], "_MAX_ROUNDS", 1)
    with pytest.raises(ValueError, match=r"too dense: \d+ of 800 distinct edges after 1 rounds"):
        power_law(100, 20, num_classes=2)


@pytest.mark.parametrize("exponent", [2.0, math.nan, math.inf])
def test_power_law_bad_exponent(exponent):
    with pytest.raises(ValueError, match="exponent must be > 2"):
        power_law(100, 5, exponent=exponent)


def test_digits_is_the_data_set_of_scikit_learn():
    data = digits()
    assert data.validate()
    assert data.x.shape == (1797, 64)
    assert data.x.dtype == torch.float32
    assert (data.x.min(), data.x.max()) == (0, 1)
    assert torch.bincount(data.y).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    check_simple_sorted_undirected(data)
    assert homophily(data) > 0.95


@pytest.mark.parametrize("neighbors", [1, 10])
def test_digits_edges_are_nearest_neighbours(neighbors):
    data = digits(neighbors=neighbors)
    assert degrees(data).min() >= neighbors
    distance = torch.cdist(data.x.double(), data.x.double()).fill_diagonal_(math.inf)
    radius = distance.kthvalue(neighbors, dim=1).values
    row, col = data.edge_index
    assert (distance[row, col] <= torch.maximum(radius[row], radius[col]) + 1e-9).all()


def test_digits_of_equal_distance_are_taken_by_index():
    data = digits()
    pixels = (16 * data.x).long()
    squares = pixels.square().sum(1)
    distance = squares.unsqueeze(1) + squares - 2 * (pixels @ pixels.T)
    order = (1797 * distance.fill_diagonal_(10**6) + torch.arange(1797)).argsort(1)
    joined = torch.zeros(1797, 1797, dtype=torch.bool).scatter_(1, order[:, :10], True)
    assert torch.equal(data.edge_index, (joined | joined.T).nonzero().T)


def test_digits_split():
    data = digits(labels_per_class=7)
    check_masks_partition(data)
    assert torch.bincount(data.y[data.train_mask]).tolist() == [7] * 10
    assert (int(data.val_mask.sum()), int(data.test_mask.sum())) == (500, 1797 - 70 - 500)
    assert torch.equal(data.train_mask, digits(labels_per_class=7).train_mask)
    assert not torch.equal(data.train_mask, digits(labels_per_class=7, seed=1).train_mask)


def test_digits_graph_from_other_features():
    clean = digits()
    noisy = clean.x + torch.from_numpy(np.random.default_rng(0).normal(size=clean.x.shape)).float()
    data = digits(graph_from=noisy)
    check_simple_sorted_undirected(data)
    assert torch.equal(data.x, clean.x)
    assert homophily(data) < homophily(clean) - 0.2
    assert torch.equal(digits(graph_from=clean.x.double()).edge_index, clean.edge_index)


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"split": "public"}, "split must be 'random'"),
        ({"neighbors": 0}, "neighbors must lie in"),
        ({"neighbors": 1797}, "neighbors must lie in"),
        ({"labels_per_class": 0}, "labels_per_class must lie in"),
        ({"labels_per_class": 175}, "labels_per_class must lie in"),
        ({"graph_from": torch.ones(3, 64)}, "graph_from must have shape"),
    ],
)
def test_digits_bad_arguments(knobs, message):
    with pytest.raises(ValueError, match=message):
        digits(**knobs)
