"""The decision among contenders, and its explanation."""

import math
from dataclasses import replace

import pytest
import torch
from gadc.models.auto._decide import Contender, champion, decide, lead

from gadc.models.auto import FAMILIES, Candidate, Facts
from gadc.models.auto._explain import _MEANING, make_choice

NONE = Candidate(family="none")
PLAIN = Candidate(family="plain", lam=8.0, num_steps=8)
LABELS = Candidate(family="labels", lam=8.0, num_steps=8)
FACTS = Facts(
    nodes=10,
    features=2,
    edges=9,
    mean_degree=1.8,
    labels=6,
    labelled_edges=4,
    homophily=0.75,
    chance_homophily=0.5,
    noise_estimate=0.1,
    noise_share=0.2,
    edge_contrast=0.5,
    edge_cosine=0.6,
    random_cosine=0.1,
    dissimilar_edges=0.1,
    spectral_radius_i=1.5,
    spectral_radius_iv=2.5,
)


def _contender(candidate, right, head="linear", log_loss=1.0):
    return Contender(candidate, head, torch.arange(20) < right, log_loss)


def _explain(*contenders, **settings):
    return make_choice(FACTS, [], list(contenders), splits=1, nodes=20, head="linear", **settings)


def test_decide_picks_the_highest_accuracy():
    best = _contender(PLAIN, 15)
    assert decide([_contender(NONE, 14), best]) is best


def test_decide_gives_a_tie_to_the_simpler_contender():
    contenders = [
        _contender(LABELS, 15, ""),
        _contender(PLAIN, 15),
        _contender(NONE, 15, "mlp"),
        _contender(NONE, 15, "linear"),
    ]
    assert decide(contenders) is contenders[3]
    assert "a tie, which goes to the simpler candidate" in _explain(*contenders).explanation


def test_champion_has_the_lowest_log_loss_of_the_best_family():
    longer = replace(PLAIN, num_steps=16)
    contenders = [_contender(PLAIN, 15), _contender(longer, 14, "mlp", log_loss=0.5), _contender(NONE, 3)]
    assert champion(contenders) is contenders[1]
    assert _explain(*contenders).head == "mlp"
    # Log-losses of different families are not compared.
    contenders.append(_contender(LABELS, 14, "", log_loss=math.nan))
    assert champion(contenders) is contenders[1]


def test_lead_has_a_paired_standard_error():
    points, error = lead(_contender(PLAIN, 15), _contender(NONE, 10), 20)
    assert points == 25.0
    assert error == pytest.approx(100 * math.sqrt(5 * 15 / 20 / 19 / 20))
    # Splits that share their nodes count no more than the nodes.
    assert lead(_contender(PLAIN, 15), _contender(NONE, 10), 5)[1] == pytest.approx(2 * error)


def test_explanation_of_a_graph_that_helps():
    choice = _explain(_contender(NONE, 10), _contender(PLAIN, 15))
    assert choice.picked == choice.reader == PLAIN
    assert "Picked plain diffusion with λ = 8, K = 8 and a linear head: 75.0 % correct" in choice.explanation
    assert "The features alone reach 50.0 % (25.0 ± 9.9 points lower)" in choice.explanation
    assert "75% of 4 labelled edges" in choice.explanation


def test_explanation_of_a_graph_that_hurts():
    text = _explain(_contender(NONE, 15, "mlp"), _contender(PLAIN, 10)).explanation
    assert "The graph hurts: use the features alone. The best use of it, plain diffusion" in text
    assert "an MLP" in text


def test_explanation_of_a_graph_that_makes_no_difference():
    text = _explain(_contender(NONE, 15), _contender(PLAIN, 15)).explanation
    assert "The graph does not help." in text


def test_label_propagation_leaves_a_reader_for_other_graphs():
    choice = _explain(_contender(NONE, 5), _contender(PLAIN, 8, "mlp"), _contender(LABELS, 15, ""))
    assert (choice.picked, choice.head) == (LABELS, "")
    assert (choice.reader, choice.reader_head) == (PLAIN, "mlp")
    assert "other graphs are classified" in choice.explanation


def test_explanation_names_families_that_were_not_tried():
    choice = _explain(_contender(NONE, 10), _contender(PLAIN, 15), skipped=["IV+"])
    assert "GADC (IV+) was not tried: it would take too long here." in choice.explanation
    assert choice.report["skipped"] == ["IV+"]


def test_every_family_that_uses_the_graph_has_an_explanation():
    assert set(_MEANING) == {*FAMILIES} - {"none"}
