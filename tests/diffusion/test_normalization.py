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
