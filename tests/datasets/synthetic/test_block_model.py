"""What both random graph models have in common."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from gadc.datasets import csbm, power_law
from tests.helpers.graph_checks import check_masks_partition, check_simple_sorted_undirected

MODELS = {
    "csbm": lambda num_nodes=600, mean_degree=8.0, **parameters: csbm(
        num_nodes, mean_degree=mean_degree, **parameters
    ),
    "power_law": lambda num_nodes=600, mean_degree=8.0, **parameters: power_law(
        num_nodes, mean_degree, **parameters
    ),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def accuracy_of_class_means(data: Data) -> float:
    train = torch.nn.functional.one_hot(data.y[data.train_mask]).float()
    means = train.T @ data.x[data.train_mask] / train.sum(0).unsqueeze(1)
    predicted = torch.cdist(data.x[data.test_mask], means).argmin(1)
    return float((predicted == data.y[data.test_mask]).float().mean())


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
def test_sample_is_a_simple_graph_with_masks_and_equal_classes(
    model, num_nodes, num_classes, mean_degree, share, seed
):
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
def test_sample_is_decided_by_its_seed(model):
    assert same(model(seed=3), model(seed=3))
    assert not same(model(seed=3), model(seed=4))


@every_model
def test_masks_have_the_requested_shares(model):
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
    ("parameters", "message"),
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
def test_bad_parameters_are_refused(model, parameters, message):
    with pytest.raises(ValueError, match=message):
        model(**{"num_classes": 2, **parameters})
