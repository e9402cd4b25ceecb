"""Dropout keeps the mean and drops the stated share, for few entries and for many."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gadc.models._fast.dropout import drop, splitmix64
from gadc.models._fast.sparse_features import SparseFeatures


@pytest.fixture(params=[False, True], ids=["few", "many"])
def many(request, monkeypatch):
    """Run a test with random bits from torch's generator, and with hashed ones."""
    monkeypatch.setattr("gadc.models._fast.dropout._MANY", 1 if request.param else math.inf)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("probability", [0.01, 0.3, 0.5, 0.9])
def test_drop_keeps_the_mean_and_drops_the_stated_share(probability):
    torch.manual_seed(0)
    n = 400_000
    dropped = drop(torch.ones(n // 8, 8), probability)
    share = float((dropped == 0).double().mean())
    deviation = math.sqrt(probability * (1 - probability) / n)
    assert abs(share - probability) < 5 * deviation + 2**-17
    mean = float(dropped.double().mean())
    assert mean == pytest.approx(1, abs=(5 * deviation + 2**-17) / (1 - probability))


@pytest.mark.usefixtures("many")
def test_drop_decides_on_each_entry_independently():
    """Check the four entries that share a 64-bit random number."""
    torch.manual_seed(0)
    kept = (drop(torch.ones(50_000, 4), 0.5) != 0).double()
    assert torch.allclose(kept.mean(0), torch.full((4,), 0.5, dtype=torch.float64), atol=0.012)
    correlation = torch.corrcoef(kept.T) - torch.eye(4)
    assert float(correlation.abs().max()) < 0.025


@given(st.lists(st.integers(1, 7), min_size=1, max_size=3), st.floats(0.0, 0.9), st.integers(0, 2**16))
def test_drop_zeroes_or_scales_each_entry(shape, probability, seed):
    torch.manual_seed(seed)
    x = torch.rand(shape, dtype=torch.float64) + 1
    dropped = drop(x, probability)
    scaled = x / (1 - probability)
    assert dropped.shape == x.shape
    assert torch.where(dropped == 0, torch.zeros_like(x), scaled).allclose(dropped, rtol=1e-12)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("probability", [0.0, 0.99999, 0.999999, 1 - 1e-9])
def test_drop_accepts_probabilities_near_0_and_1(probability):
    torch.manual_seed(0)
    share = float((drop(torch.ones(10_000), probability) == 0).double().mean())
    assert share == (0 if probability == 0 else pytest.approx(1, abs=1e-3))


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(("probability", "training"), [(0.0, True), (0.5, False)])
def test_drop_returns_its_input_and_draws_nothing_where_nothing_is_dropped(probability, training):
    x, before = torch.ones(10), torch.get_rng_state()
    assert drop(x, probability, training=training) is x
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.usefixtures("many")
def test_drop_passes_the_gradient_of_kept_entries_only():
    torch.manual_seed(0)
    x = torch.ones(100, requires_grad=True)
    dropped = drop(x, 0.5)
    dropped.sum().backward()
    assert torch.equal(x.grad, dropped.detach())


@pytest.mark.usefixtures("many")
def test_drop_differs_between_calls_and_repeats_with_the_seed():
    drawn = []
    for _ in range(2):
        torch.manual_seed(3)
        drawn.append([drop(torch.ones(1000), 0.5) for _ in range(2)])
    assert torch.equal(drawn[0][0], drawn[1][0])
    assert torch.equal(drawn[0][1], drawn[1][1])
    assert 400 < int((drawn[0][0] != drawn[0][1]).sum()) < 600


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_drop_of_many_entries_covers_blocks_of_any_size(dtype, monkeypatch):
    """Hash in blocks that do not divide the entries, of a tensor that is not contiguous."""
    monkeypatch.setattr("gadc.models._fast.dropout._MANY", 1)
    x = torch.randn(50, 31, dtype=dtype).T
    dropped = []
    for block in (1, 7, 1 << 14):
        monkeypatch.setattr("gadc.models._fast.dropout._BLOCK", block)
        torch.manual_seed(0)
        dropped.append(drop(x, 0.3))
    assert torch.equal(dropped[0], dropped[1])
    assert torch.equal(dropped[0], dropped[2])
    assert 0.2 < float((dropped[0] == 0).double().mean()) < 0.4


@pytest.mark.parametrize(
    ("count", "kept", "weighted"),
    [(1001, 690, 343_212.0), (5_000_001, 3_500_860, 8_753_045_797_249.0)],
)
def test_drop_keeps_the_random_numbers_of_stored_runs(count, kept, weighted):
    torch.manual_seed(0)
    entries = (drop(torch.ones(count), 0.3) != 0).double()
    assert int(entries.sum()) == kept
    assert float(entries @ torch.arange(count, dtype=torch.float64)) == weighted


def test_drop_of_sparse_features_drops_their_entries():
    x = torch.rand(30, 8, dtype=torch.float64) + 1
    torch.manual_seed(0)
    expected = drop(x, 0.6)
    torch.manual_seed(0)
    dropped = drop(SparseFeatures.of(x), 0.6)
    assert torch.allclose(dropped @ torch.eye(8, dtype=x.dtype), expected)


def test_splitmix64_gives_the_published_sequence():
    """Compare with the five numbers by which implementations with seed 1234567 are usually checked."""
    expected = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert splitmix64(np.uint64(1234567), 1, 6).tolist() == expected
