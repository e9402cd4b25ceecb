"""Label propagation against its dense formula; the features are not looked at."""

import pytest
import torch
from torch.nn.functional import one_hot

from gadc.models import LabelPropagation
from tests.helpers import dense
from tests.helpers.tiny import tiny_data

DATA = tiny_data()


def _spread(labels, *, lam, num_steps):
    T = dense.normalized(dense.adjacency(DATA.edge_index, DATA.edge_weight, 30))
    return dense.diffusion_matrix(T, lam, num_steps) @ labels


@pytest.mark.parametrize("balance", [False, True])
def test_scores_are_the_diffused_training_labels(balance):
    labels = one_hot(DATA.y, 3).double() * DATA.train_mask.unsqueeze(1)
    expected = _spread(labels, lam=3.0, num_steps=6)
    if balance:
        expected = expected / expected.sum(0)
    found = LabelPropagation(lam=3.0, num_steps=6, balance=balance).fit(DATA)
    assert torch.allclose(found.logits.double(), expected, rtol=1e-5, atol=1e-7)


def test_features_and_other_labels_do_not_matter():
    other = tiny_data()
    other.x = torch.randn(30, 6, generator=torch.Generator().manual_seed(0))
    other.y = torch.where(other.train_mask, other.y, 2)
    assert torch.equal(LabelPropagation().fit(other).logits, LabelPropagation().fit(DATA).logits)


def test_unlabelled_nodes_are_allowed():
    other = tiny_data()
    other.y = torch.where(other.test_mask, -1, other.y)
    assert torch.equal(LabelPropagation().fit(other).logits, LabelPropagation().fit(DATA).logits)


def test_bad_settings():
    with pytest.raises(ValueError, match=r"lam must be finite and >= 0, got -1.0"):
        LabelPropagation(lam=-1.0)
