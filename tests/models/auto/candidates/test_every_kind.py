"""What candidates of every kind have in common."""

from functools import cache

import pytest
import torch
from torch_geometric.data import Data

from gadc.models.auto.candidates import (
    KINDS,
    Alone,
    Anchored,
    Boosting,
    Diffused,
    Hops,
    Labels,
    Links,
    Propagated,
    Smoothed,
    Student,
    candidate_from_dict,
)
from tests.helpers.auto_graphs import easy_graph, make_nodes, make_view

DATA = easy_graph(80)  # boosted trees need twenty nodes per leaf
PLAIN = Diffused(variant="plain", lam=1.0, num_steps=2)
SAMPLES = [
    Alone(),
    Alone(head="mlp"),
    Anchored(),
    Anchored(trust=0.0),
    Boosting(),
    Boosting(num_hops=1),
    PLAIN,
    Diffused(variant="IV", num_steps=2, self_loops=1.0, normalize="l2"),
    Hops(num_hops=1),
    Hops(operators=("out", "in", "cosine", "anchors"), num_hops=1),
    Hops(num_hops=1, labels=True),
    Links(hidden=8),
    Propagated(),
    Propagated(head="linear", dropout=0.0),
    Labels(lam=8.0, num_steps=8),
    Labels(balance=True),
    Smoothed(base=Alone()),
    Smoothed(base=Anchored()),
    Smoothed(base=Boosting()),
    Student(teacher=PLAIN),
]
VIEW, NODES = make_view(DATA), make_nodes(DATA, epochs=25)
TRAINED = [Alone(), PLAIN, Hops(num_hops=1), Propagated()]
every = pytest.mark.parametrize("candidate", SAMPLES, ids=lambda one: one.words[:50])


@cache
def _trained(candidate):
    return candidate.fit(VIEW, NODES)


def test_there_is_a_sample_of_every_kind():
    assert {one.kind for one in SAMPLES} == {*KINDS}


@every
def test_candidate_learns_and_repeats_itself(candidate):
    before = torch.random.get_rng_state()
    reader, again = _trained(candidate), candidate.fit(VIEW, NODES)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert not reader.training
    with torch.no_grad():
        scores = reader(VIEW)
        assert torch.equal(again(VIEW), scores)
    assert scores.shape == (80, 2)
    right = (scores.argmax(1) == DATA.y)[DATA.test_mask].double().mean()
    assert float(right) > 0.7


@every
def test_candidate_survives_a_round_trip(candidate):
    """Rebuild the reader from its settings and weights, and read the same scores."""
    restored = candidate_from_dict(candidate.to_dict())
    assert restored == candidate
    assert restored.words == candidate.words
    reader, empty = _trained(candidate), restored.build(VIEW, 2)
    empty.load_state_dict(reader.state_dict())
    with torch.no_grad():
        assert torch.equal(empty.eval()(VIEW), reader(VIEW))


@every
def test_only_candidates_that_keep_something_per_node_are_bound_to_their_graph(candidate):
    reader = _trained(candidate)
    sizes = {value.shape[:1] for value in reader.state_dict().values()}
    assert candidate.own_graph_only == ((80,) in sizes)
    if not candidate.own_graph_only:
        smaller = Data(x=DATA.x[:9], edge_index=torch.tensor([[0], [1]]), y=DATA.y[:9])
        assert reader(make_view(smaller)).shape == (9, 2)


@pytest.mark.parametrize("candidate", TRAINED, ids=lambda one: one.kind)
def test_validation_saw_what_the_reader_answers(candidate, monkeypatch):
    """Compare the scores of validation nodes in the last check with the scores of the trained reader."""
    view, nodes = make_view(DATA), make_nodes(DATA, epochs=3)
    module = __import__(type(candidate).__module__, fromlist=["train"])
    kept = []

    def train_and_ask(model, scores, given, schedule, **settings):
        epochs = original(model, scores, given, schedule, **settings)
        with torch.no_grad():
            kept.append(scores(given.validation))
        return epochs

    original = module.train
    monkeypatch.setattr(module, "train", train_and_ask)
    reader = candidate.fit(view, nodes)
    with torch.no_grad():
        assert torch.allclose(reader(view)[nodes.validation], kept[0], atol=1e-5)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind must be one of"):
        candidate_from_dict({"kind": "oracle"})


@pytest.mark.parametrize("candidate", [Alone(), Hops(num_hops=1), PLAIN], ids=lambda one: one.kind)
def test_class_weights_move_the_decision(candidate):
    """Let one class weigh a hundred times the other, on features that say little."""
    data = easy_graph(signal=0.2, homophily=0.5)
    view = make_view(data)
    counts = []
    for weight in ([1.0, 100.0], [100.0, 1.0]):
        reader = candidate.fit(view, make_nodes(data, weight=torch.tensor(weight), epochs=30))
        with torch.no_grad():
            counts.append(int((reader(view).argmax(1) == 1).sum()))
    assert counts[0] > counts[1]
