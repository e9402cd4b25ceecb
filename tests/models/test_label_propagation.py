"""Label propagation against its dense formula; the features are not looked at."""

import pytest
import torch
from torch.nn.functional import one_hot
from torch_geometric.data import Data

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


def _stars(train):
    """A star of 20 leaves of class 0 and one of 4 leaves of class 1, joined at their centres."""
    big, small = torch.arange(1, 21), torch.arange(22, 26)
    centres = torch.tensor([[0], [21]])
    edges = torch.cat(
        [
            torch.stack([torch.zeros(20, dtype=torch.int64), big]),
            torch.stack([torch.full((4,), 21), small]),
            centres,
        ],
        1,
    )
    y = torch.cat([torch.zeros(21, dtype=torch.int64), torch.ones(5, dtype=torch.int64)])
    train_mask = torch.zeros(26, dtype=torch.bool).index_fill(0, torch.tensor(train), True)
    return Data(x=torch.ones(26, 1), edge_index=edges, y=y, train_mask=train_mask, val_mask=~train_mask)


def test_balance_by_validation_takes_the_more_accurate_way():
    for train in ([1, 2, 3, 22], [1, 22], [0, 1, 2, 3, 4, 5, 6, 22]):
        data = _stars(train)
        with_, without, best = (LabelPropagation(balance=b).fit(data) for b in (True, False, None))
        accuracies = [one.trained.val_accuracy for one in (with_, without)]
        assert best.trained.val_accuracy == max(accuracies)
        expected = with_ if accuracies[0] > accuracies[1] else without
        assert torch.equal(best.logits, expected.logits)
        assert torch.equal(best.scores(data.x, data.edge_index), expected.logits)
    data.val_mask[:] = False
    without = LabelPropagation(balance=False).fit(data)
    assert torch.equal(LabelPropagation(balance=None).fit(data).logits, without.logits)


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
