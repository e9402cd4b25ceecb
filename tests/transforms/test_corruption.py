"""Statistics, exact counts, seeds, composition and non-mutation of every corruption."""

import dataclasses
import math

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch_geometric.data import Data
from torch_geometric.utils import contains_self_loops, is_undirected, to_undirected

from gadc.transforms._corruption import (
    CORRUPTIONS,
    Compose,
    EdgeAddition,
    EdgeRemoval,
    EdgeRewiring,
    FeatureFlip,
    FeatureMask,
    GaussianNoise,
    LabelNoise,
    NearZeroRowSumWarning,
    RowNormalize,
    corruption,
    normalize_rows,
)

SETTINGS = {
    "gaussian-noise": {"level": 0.5},
    "feature-flip": {"probability": 0.3},
    "feature-mask": {"probability": 0.3},
    "edge-addition": {"rate": 0.4},
    "edge-removal": {"rate": 0.4},
    "edge-rewiring": {"rate": 0.4},
    "label-noise": {"rate": 0.5},
}
CHANGED = {"gaussian-noise": "x", "feature-flip": "x", "feature-mask": "x", "label-noise": "y"}


def ring(n=40, weighted=False, d=6):
    nodes = torch.arange(n)
    edge_index = to_undirected(torch.stack([nodes, (nodes + 1) % n]))
    x = (torch.rand(n, d, generator=torch.Generator().manual_seed(1)) < 0.3).float()
    y = torch.arange(n) % 3
    data = Data(x=x, edge_index=edge_index, y=y, train_mask=nodes < n // 2)
    if weighted:
        low, high = edge_index.min(0).values, edge_index.max(0).values
        data.edge_weight = 2.0 + low + 100.0 * high
    return data


def pair_set(edge_index):
    return {(u, v) for u, v in edge_index.t().tolist() if u < v}


def test_every_corruption_has_settings_here():
    assert set(SETTINGS) == set(CORRUPTIONS)


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_is_frozen_seeded_and_leaves_its_input_alone(name):
    data = ring(weighted=True)
    before = {key: value.clone() for key, value in data.to_dict().items()}
    torch.manual_seed(0)
    state = torch.get_rng_state()
    step = corruption(name, **SETTINGS[name], seed=5)
    first = step(data)
    assert torch.equal(torch.get_rng_state(), state)
    torch.rand(7)
    again, other = step(data), dataclasses.replace(step, seed=6)(data)
    key = CHANGED.get(name, "edge_index")
    assert torch.equal(first[key], again[key])
    assert first[key].shape != other[key].shape or not torch.equal(first[key], other[key])
    assert not torch.equal(first[key], before[key])
    assert set(data.keys()) == set(before)
    assert all(torch.equal(data[k], value) for k, value in before.items())
    untouched = set(before) - {key, "edge_weight"}
    assert all(torch.equal(first[k], before[k]) for k in untouched)
    with pytest.raises(dataclasses.FrozenInstanceError):
        step.seed = 1


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_zero_strength_changes_nothing(name):
    data = ring(weighted=True)
    (setting,) = SETTINGS[name]
    out = corruption(name, **{setting: 0.0})(data)
    assert torch.equal(out.x, data.x)
    assert torch.equal(out.y, data.y)
    assert pair_set(out.edge_index) == pair_set(data.edge_index)


@pytest.mark.parametrize("name", CORRUPTIONS)
@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf])
def test_bad_strength_is_refused(name, value):
    (setting,) = SETTINGS[name]
    with pytest.raises(ValueError, match=rf"{setting} must be"):
        corruption(name, **{setting: value})


@pytest.mark.parametrize("name", sorted(set(CORRUPTIONS) - {"gaussian-noise", "edge-addition"}))
def test_shares_above_one_are_refused(name):
    (setting,) = SETTINGS[name]
    with pytest.raises(ValueError, match=r"between 0 and 1, got 1\.5"):
        corruption(name, **{setting: 1.5})


@pytest.mark.parametrize("seed", [-1, 1.5, True])
def test_bad_seeds_are_refused(seed):
    with pytest.raises(ValueError, match="seed must be a whole number"):
        GaussianNoise(level=1.0, seed=seed)


def test_unknown_name_lists_the_choices_and_bad_settings_are_named():
    with pytest.raises(ValueError, match=r"'edge-rewiring'.*got 'smog'"):
        corruption("smog")
    with pytest.raises(ValueError, match=r"bad settings for 'feature-flip'.*level"):
        corruption("feature-flip", level=1)


def test_seeds_beyond_32_bits_differ():
    data = ring()
    noise = [GaussianNoise(level=1.0, seed=seed)(data).x for seed in (5, 5 + 2**32)]
    assert not torch.equal(*noise)


def test_two_kinds_with_one_seed_are_independent():
    data = Data(x=torch.ones(200, 100))
    flipped = FeatureFlip(probability=0.5, seed=0)(data).x == 0
    masked = FeatureMask(probability=0.5, seed=0)(data).x == 0
    assert (flipped == masked).float().mean().item() == pytest.approx(0.5, abs=0.02)


def test_gaussian_noise_is_scaled_standard_normal():
    x = torch.arange(300_000.0).reshape(600, 500) / 300_000
    noise = (GaussianNoise(level=0.2, seed=1)(Data(x=x)).x - x) / 0.2
    assert noise.mean().item() == pytest.approx(0, abs=0.01)
    assert noise.std().item() == pytest.approx(1, abs=0.01)
    assert (noise.abs() < 1).float().mean().item() == pytest.approx(0.6827, abs=0.01)


def test_gaussian_noise_makes_counts_floats():
    out = GaussianNoise(level=1.0)(Data(x=torch.ones(3, 2, dtype=torch.int64)))
    assert out.x.is_floating_point()


def test_flip_turns_zeros_to_ones_and_any_weight_to_zero():
    x = torch.tensor([0.0, 0.04, 1.0, 0.7, -0.2]).repeat(2000, 20)
    out = FeatureFlip(probability=0.3, seed=2)(Data(x=x)).x
    changed = out != x
    assert torch.equal(out[changed], (x[changed] == 0).float())
    for value in (0.0, 0.04, 1.0, 0.7, -0.2):
        assert changed[x == value].float().mean().item() == pytest.approx(0.3, abs=0.01)
    sure = FeatureFlip(probability=1.0)(Data(x=x)).x
    assert torch.equal(sure, (x == 0).float())


def test_mask_sets_the_stated_share_to_zero():
    out = FeatureMask(probability=0.25, seed=2)(Data(x=torch.full((1000, 100), 3.0))).x
    assert set(out.unique().tolist()) == {0.0, 3.0}
    assert (out == 0).float().mean().item() == pytest.approx(0.25, abs=0.01)


def test_feature_noise_without_features_is_an_error():
    with pytest.raises(ValueError, match="FeatureFlip: data must have features"):
        FeatureFlip(probability=0.1)(Data(edge_index=ring().edge_index))


@given(n=st.integers(3, 30), rate=st.floats(0, 1), seed=st.integers(0, 9), weighted=st.booleans())
@settings(max_examples=40, deadline=None)
def test_edge_counts_are_exact_and_the_graph_stays_proper(n, rate, seed, weighted):
    data = ring(n, weighted)
    old, count = pair_set(data.edge_index), math.floor(rate * n + 0.5)
    free = n * (n - 1) // 2 - n
    for kind, lost, gained in (
        (EdgeRemoval, count, 0),
        (EdgeAddition, 0, count),
        (EdgeRewiring, count, count),
    ):
        step = kind(rate=rate, seed=seed)
        if gained > free:
            with pytest.raises(ValueError, match=f"only {free} pairs"):
                step(data)
            continue
        out = step(data)
        new = pair_set(out.edge_index)
        assert (len(old - new), len(new - old)) == (lost, gained)
        assert out.edge_index.shape[1] == 2 * len(new)
        assert is_undirected(out.edge_index, num_nodes=n)
        assert not contains_self_loops(out.edge_index)
        assert torch.equal(out.clean_edge_index, data.edge_index)
        assert out.num_nodes == n
        if weighted:
            weight = dict(zip(map(tuple, out.edge_index.t().tolist()), out.edge_weight.tolist(), strict=True))
            for u, v in new:
                assert weight[u, v] == weight[v, u] == (2.0 + u + 100.0 * v if (u, v) in old else 1.0)


def test_adding_to_a_dense_graph_fills_it_and_then_refuses():
    n = 12
    full = torch.combinations(torch.arange(n)).t()
    data = Data(edge_index=to_undirected(full[:, 1:]), num_nodes=n)
    out = EdgeAddition(rate=1 / 65)(data)
    assert pair_set(out.edge_index) == set(map(tuple, full.t().tolist()))
    with pytest.raises(ValueError, match="only 0 pairs without an edge"):
        EdgeAddition(rate=0.5)(out)


def test_millions_of_nodes_need_no_square_matrix():
    n = 3_000_000
    data = Data(edge_index=to_undirected(torch.tensor([[0, 5, n - 2], [1, n - 1, n - 1]])), num_nodes=n)
    out = EdgeAddition(rate=1000, seed=1)(data)
    assert out.edge_index.shape[1] == 2 * 3003
    assert int(out.edge_index.max()) < n
    assert len(pair_set(out.edge_index)) == 3003


def test_all_edges_removed_keeps_the_nodes():
    data = Data(edge_index=ring(7).edge_index, num_nodes=7)
    out = EdgeRemoval(rate=1.0)(data)
    assert out.edge_index.shape == (2, 0)
    assert out.num_nodes == 7


def test_each_edge_is_removed_equally_often():
    hits = torch.zeros(10)
    for seed in range(600):
        kept = pair_set(EdgeRemoval(rate=0.3, seed=seed)(ring(10)).edge_index)
        hits += torch.tensor([float(pair not in kept) for pair in sorted(pair_set(ring(10).edge_index))])
    assert torch.allclose(hits / 600, torch.full((10,), 0.3), atol=0.09)  # almost five standard deviations


def test_directed_edges_other_attributes_and_unequal_weights_are_refused():
    one_way = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    with pytest.raises(ValueError, match="EdgeRemoval: edges must be undirected"):
        EdgeRemoval(rate=0.5)(one_way)
    typed = ring()
    typed.edge_attr = torch.zeros(typed.num_edges, 3)
    with pytest.raises(ValueError, match="edge_attr"):
        EdgeRemoval(rate=0.5)(typed)
    lopsided = ring(weighted=True)
    lopsided.edge_weight = torch.arange(float(lopsided.num_edges))
    with pytest.raises(ValueError, match="same in both directions"):
        EdgeRewiring(rate=0.5)(lopsided)


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


def test_label_noise_reaches_all_other_classes_equally():
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


def test_compose_applies_in_order_and_keeps_the_first_clean_edges():
    data = ring()
    steps = EdgeRemoval(rate=0.5), EdgeAddition(rate=0.5), GaussianNoise(level=0.1), RowNormalize(kind="l2")
    out = Compose(*steps)(data)
    byhand = data
    for step in steps:
        byhand = step(byhand)
    assert torch.equal(out.x, byhand.x)
    assert torch.equal(out.edge_index, byhand.edge_index)
    assert torch.equal(out.clean_edge_index, data.edge_index)
    with pytest.raises(TypeError, match="got 3"):
        Compose(EdgeRemoval(rate=0.5), 3)


@pytest.mark.parametrize(("kind", "norm"), [("l1", 1), ("l2", 2)])
def test_norms_become_one_and_zero_rows_stay(kind, norm):
    x = torch.tensor([[3.0, -4.0], [0.0, 0.0], [1.0, 1.0]])
    out = RowNormalize(kind=kind)(Data(x=x)).x
    assert torch.linalg.vector_norm(out, ord=norm, dim=1).tolist() == pytest.approx([1, 0, 1])
    assert torch.equal(out.sign(), x.sign())


def test_signed_sum_divides_by_what_may_be_negative():
    x = torch.tensor([[1.0, -3.0], [2.0, 2.0], [0.0, 0.0]])
    assert normalize_rows(x, "sum").tolist() == [[-0.5, 1.5], [0.5, 0.5], [0.0, 0.0]]
    assert normalize_rows(x, "none") is x
    assert normalize_rows(torch.tensor([[1, 3]]), "sum").tolist() == [[0.25, 0.75]]


@pytest.mark.parametrize("entries", [1, 12, 1000])
def test_sums_by_blocks_are_the_sums_of_whole_rows(monkeypatch, entries):
    monkeypatch.setattr("gadc.diffusion._normalization._ENTRIES", entries)
    x = torch.rand(7, 5, generator=torch.Generator().manual_seed(0), requires_grad=True)
    out = normalize_rows(x, "sum")
    assert torch.equal(out, x * (1 / x.double().sum(1, keepdim=True)).float())
    assert normalize_rows(x[:0], "sum").shape == (0, 5)
    out[:, 0].sum().backward()
    torch.testing.assert_close(x.grad[:, 1], -out[:, 0].detach() / x.detach().sum(1))


def test_cancelling_rows_warn_once_with_their_count():
    x = torch.tensor([[1.0, -1.0], [1.0, -0.9999], [1.0, 1.0]])
    with pytest.warns(NearZeroRowSumWarning, match="2 of 3 rows") as caught:
        out = normalize_rows(x, "sum")
    assert len(caught) == 1
    assert out[0].tolist() == [0.0, 0.0]
    assert out[1, 0].item() == pytest.approx(1e4, rel=1e-2)
    assert bool(out.isfinite().all())


def test_noisy_rows_of_a_wide_matrix_warn_as_in_the_published_figures():
    noisy = GaussianNoise(level=0.5, seed=42)(Data(x=torch.zeros(1000, 500)))
    with pytest.warns(NearZeroRowSumWarning):
        out = RowNormalize(kind="sum")(noisy).x
    norms = torch.linalg.vector_norm(out, dim=1)
    assert (norms.max() / norms.median()).item() > 50


def test_unknown_normalisation_lists_the_choices():
    with pytest.raises(ValueError, match="'l2', 'none', got 'max'"):
        RowNormalize(kind="max")
