"""Nearest nodes in cells against the exact search, on clustered features."""

import pytest
import torch

from gadc.diffusion import ApproximateNeighborsWarning
from gadc.diffusion import _nearest as module
from gadc.diffusion._cells import nearest_in_cells
from gadc.diffusion._nearest import nearest


def clustered(n: int = 1500, groups: int = 30) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    centers = torch.randn(groups, 8, generator=generator)
    x = centers[torch.arange(n) % groups] + 0.3 * torch.randn(n, 8, generator=generator)
    return x / x.norm(dim=1, keepdim=True)


def test_cells_find_almost_all_nearest_nodes_and_measure_the_share():
    x = clustered()
    found = nearest_in_cells(x, 10)
    exact = (x @ x.T).fill_diagonal_(-torch.inf).topk(10, dim=1).indices
    shared = (found.indices.unsqueeze(2) == exact.unsqueeze(1)).any(2).float().mean()
    assert shared > 0.95
    assert abs(found.recall - float(shared)) < 0.03
    assert not (found.indices == torch.arange(len(x)).unsqueeze(1)).any()


def test_one_cell_is_the_exact_search():
    x = clustered(200)
    found = nearest_in_cells(x, 5, num_cells=1)
    exact = (x @ x.T).fill_diagonal_(-torch.inf).topk(5, dim=1)
    torch.testing.assert_close(found.cosines, exact.values)
    assert found.recall == 1


def test_recall_tells_what_small_cells_miss(monkeypatch):
    monkeypatch.setattr("gadc.diffusion._cells._PROBED", 1)
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(600, 8, generator=generator)  # without clusters
    assert nearest_in_cells(x / x.norm(dim=1, keepdim=True), 10).recall < 0.7


def test_nearest_beyond_the_limit_is_the_same_graph_on_each_call_and_tells_its_recall(monkeypatch):
    x = clustered()
    exact = nearest(x, 5)
    monkeypatch.setattr(module, "MAX_EXACT", 1000)
    with pytest.warns(
        ApproximateNeighborsWarning, match=r"the 5 nearest nodes .* 9\d\.\d% of them|100\.0% of"
    ):
        found = nearest(x, 5)
    with pytest.warns(ApproximateNeighborsWarning):
        again = nearest(x, 5)
    assert torch.equal(found.pattern.keys, again.pattern.keys)
    assert torch.isin(found.pattern.keys, exact.pattern.keys).float().mean() > 0.9
    assert found.symmetric
