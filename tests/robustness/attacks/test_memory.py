"""The forecast of the memory of attacked scores."""

import pytest
import torch

from gadc._base.memory import MemoryLimitError
from gadc.robustness.attacks._memory import check_scores_memory
from tests.helpers.attack_graph import communities, one_hop


def messages(x, edge_index, edge_weight=None):
    """Compute one message of 100 numbers per edge, as message passing without a sparse product does."""
    wide = x[:, :1].expand(-1, 100)[edge_index[0]] * edge_weight[:, None]
    return torch.zeros(len(x), 100, dtype=x.dtype).index_add(0, edge_index[1], wide)


def test_check_scores_memory_refuses_messages_that_do_not_fit(monkeypatch):
    monkeypatch.setenv("GADC_MAX_MEMORY", "10GB")
    with pytest.raises(MemoryLimitError, match=r"PGD: the gradient .* 10,000,000 edges .* 10.0 GB are"):
        check_scores_memory("PGD", messages, communities(), 10_000_000)


def test_check_scores_memory_accepts_frugal_scores(monkeypatch):
    monkeypatch.setenv("GADC_MAX_MEMORY", "10GB")
    check_scores_memory("PGD", one_hop, communities(), 10_000_000)


def test_check_scores_memory_does_not_call_scores_of_small_graphs():
    def never(x, edge_index, edge_weight):
        raise AssertionError

    check_scores_memory("PGD", never, communities(), 100_000)
