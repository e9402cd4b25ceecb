"""Row normalisation of features: signed sums, blocks of rows, and rows that cancel."""

import pytest
import torch

from gadc.diffusion import NearZeroRowSumWarning, normalize_rows


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


@pytest.mark.parametrize("kind", ["l1", "l2"])
@pytest.mark.parametrize("size", [1e-44, 1e-30, 1e30, 3e38])
def test_norms_are_found_for_rows_of_any_magnitude(kind, size):
    """Such squares and sums do not fit into float32; the rows beside them stay as they are."""
    x = torch.rand(3, 4, generator=torch.Generator().manual_seed(0))
    usual = normalize_rows(x, kind)
    mixed = torch.cat([x, torch.tensor([[size, -size, 0.0, 0.0], [0.0] * 4])])
    out = normalize_rows(mixed, kind)
    assert torch.equal(out[:3], usual)
    half = 0.5 if kind == "l1" else 0.5**0.5
    torch.testing.assert_close(out[3], torch.tensor([half, -half, 0.0, 0.0]))
    assert not out[4].any()


def test_signed_sums_that_overflow_are_found():
    x = torch.tensor([[1e308, 1e308], [1.0, 3.0]], dtype=torch.float64)
    torch.testing.assert_close(normalize_rows(x, "sum"), x.new_tensor([[0.5, 0.5], [0.25, 0.75]]))


@pytest.mark.filterwarnings("ignore::gadc.NearZeroRowSumWarning")
def test_rows_that_overflow_are_refused():
    x = torch.tensor([[1e10, -1e10, 1e-30]])
    with pytest.raises(ValueError, match=r'normalised features must be finite, got 2 .*; use "l1" or "l2"'):
        normalize_rows(x, "sum")
    with pytest.raises(ValueError, match="normalize_rows: x must be finite, got 1 NaN"):
        normalize_rows(torch.tensor([[1.0, float("nan")]]), "l1")
