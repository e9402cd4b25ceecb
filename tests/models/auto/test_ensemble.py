"""The average of trained candidates, and extreme edge weights."""

import pytest
import torch

from gadc.models.auto import Ensemble
from gadc.models.auto._ensemble import compress_weights, weight_unit
from gadc.models.auto.candidates import Alone, Diffused, Labels
from tests.helpers.auto_graphs import easy_graph, make_nodes, make_view

DATA = easy_graph(40)
VIEW, NODES = make_view(DATA), make_nodes(DATA, epochs=5)
CANDIDATES = [Labels(), Alone(), Diffused(variant="plain", num_steps=1)]
READERS = [one.fit(VIEW, NODES) for one in CANDIDATES]


def _ensemble(shares, **settings):
    return Ensemble(VIEW.features, CANDIDATES, READERS, shares, **settings).eval()


def _proba(number):
    with torch.no_grad():
        return READERS[number](VIEW).softmax(1)


def test_probabilities_are_averaged_and_calibrated():
    with torch.no_grad():
        found = _ensemble([0.5, 0.5, 0.0], temperature=2.0)(DATA.x, DATA.edge_index)
    expected = (0.5 * _proba(0) + 0.5 * _proba(1)).sqrt()
    assert torch.allclose(found.exp(), expected / expected.sum(1, keepdim=True), atol=1e-5)


def test_candidates_that_read_labels_are_left_out_elsewhere():
    with torch.no_grad():
        found = _ensemble([0.5, 0.5, 0.0])(DATA.x, DATA.edge_index, elsewhere=True)
    assert torch.allclose(found.exp(), _proba(1), atol=1e-5)


def test_the_deputy_answers_where_no_other_can():
    with torch.no_grad():
        found = Ensemble(VIEW.features, CANDIDATES[:2], READERS[:2], [1.0, 0.0])(
            DATA.x, DATA.edge_index, elsewhere=True
        )
    assert torch.allclose(found.exp(), _proba(1), atol=1e-5)
    alone = Ensemble(VIEW.features, CANDIDATES[:1], READERS[:1], [1.0])
    with pytest.raises(ValueError, match="no candidate can answer for another graph"):
        alone(DATA.x, DATA.edge_index, elsewhere=True)


def test_result_has_the_precision_of_the_features():
    with torch.no_grad():
        found = _ensemble([0.0, 1.0, 0.0])(DATA.x.double(), DATA.edge_index)
    assert found.dtype == torch.float64


def test_ensemble_survives_a_round_trip():
    given = _ensemble([0.2, 0.3, 0.5], temperature=1.5, weight_unit=3.0, directed=True)
    restored = Ensemble.restored(given.settings(), given.state_dict(), (40, 2))
    assert restored.settings() == given.settings()
    weight = torch.rand(DATA.num_edges)
    with torch.no_grad():
        args = DATA.x, DATA.edge_index, weight
        assert torch.equal(restored(*args), given(*args))


def test_extreme_weights_are_read_on_a_logarithmic_scale():
    amounts = torch.tensor([1.0, 2.0, 3.0] * 30 + [1e6] * 10)
    unit = weight_unit(amounts)
    assert unit == 2.0
    assert torch.equal(compress_weights(amounts, unit), torch.log1p(amounts / 2))


@pytest.mark.parametrize("weight", [None, torch.ones(0), torch.zeros(3), torch.rand(100) + 0.5])
def test_usual_weights_are_read_as_given(weight):
    assert weight_unit(weight) == 0.0
    assert compress_weights(weight, 0.0) is weight
