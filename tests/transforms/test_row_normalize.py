"""Row normalisation as a transform; the norms themselves are tested with `normalize_rows`."""

import pytest
import torch
from torch_geometric.data import Data

from gadc.diffusion import NearZeroRowSumWarning
from gadc.transforms import GaussianNoise, RowNormalize


@pytest.mark.parametrize(("kind", "norm"), [("l1", 1), ("l2", 2)])
def test_row_normalize_gives_norm_one_and_keeps_zero_rows(kind, norm):
    x = torch.tensor([[3.0, -4.0], [0.0, 0.0], [1.0, 1.0]])
    data = Data(x=x)
    out = RowNormalize(kind=kind)(data).x
    assert torch.linalg.vector_norm(out, ord=norm, dim=1).tolist() == pytest.approx([1, 0, 1])
    assert torch.equal(out.sign(), x.sign())
    assert data.x is x


def test_row_normalize_warns_of_noisy_rows_as_in_the_published_figures():
    noisy = GaussianNoise(level=0.5, seed=42)(Data(x=torch.zeros(1000, 500)))
    with pytest.warns(NearZeroRowSumWarning):
        out = RowNormalize(kind="sum")(noisy).x
    norms = torch.linalg.vector_norm(out, dim=1)
    assert (norms.max() / norms.median()).item() > 50


def test_row_normalize_lists_the_choices():
    with pytest.raises(ValueError, match="'l2', 'none', got 'max'"):
        RowNormalize(kind="max")
