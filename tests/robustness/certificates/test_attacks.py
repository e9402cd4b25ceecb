"""No attack goes below a certificate: every attack of the registry, under every threat that it fits."""

from dataclasses import fields
from itertools import combinations

import pytest
import torch
from torch_geometric.data import Data

from gadc.datasets import csbm
from gadc.models import GADC, make_model
from gadc.models._training.ridge import ridge_smoother, ridge_targets
from gadc.robustness.attacks import ATTACKS, FeatureAttack, Rules, make_attack, stand_in_scores
from gadc.robustness.certificates import (
    LocalFlips,
    PartVotes,
    Smoothing,
    certify_collective,
    certify_edges,
    certify_features,
    certify_labels,
    certify_votes,
    linear_diffusion,
)
from gadc.robustness.certificates._cases import _harmful_labels, _within_local

SHORT = {"num_steps": 3, "num_samples": 3, "num_generations": 3, "population": 6}
BUILTIN = sorted(ATTACKS)
NODES = torch.arange(40)


def graph(seed):
    return csbm(40, homophily=0.9, mean_degree=5, num_features=6, seed=seed)


def flips_of(name, scores, data, budget, *, seed=0, mode="flip"):
    """What an attack of the registry flips in few steps."""
    known = {field.name for field in fields(ATTACKS[name])}
    settings = {key: value for key, value in SHORT.items() if key in known}
    attack = make_attack(name, **settings, **({"refit": lambda _: scores} if "refit" in known else {}))
    nodes = torch.arange(data.num_nodes)
    nodes = nodes[:1] if name == "nettack" else nodes
    return attack(scores, data, nodes=nodes, budget=budget, seed=seed, rules=Rules(mode=mode))


@torch.no_grad()
def classes(scores, data):
    return scores(data.x, data.edge_index, data.edge_weight).argmax(1)


def accuracy(predicted, data):
    return 100 * float((predicted == data.y).double().mean())


@pytest.mark.parametrize("name", BUILTIN)
@pytest.mark.parametrize("variant", ["plain", "IV+"])
def test_no_attack_goes_below_the_certificate_of_edges(name, variant):
    for seed in range(2):
        data = graph(seed)
        model = GADC(variant=variant, norm="rw", lam=3.0, num_steps=3, epochs=30)
        fitted = model.fit(data)
        diffusion = linear_diffusion(model, fitted, data)
        found = certify_edges(diffusion, data.y, NODES, LocalFlips(budgets=[1, 2]))
        strong = flips_of(name, fitted.scores, data, 20, seed=seed)
        for budget in (1, 2):
            reached = classes(fitted.scores, _within_local(strong, budget).apply(data))
            assert not bool((found.certified(budget) & (reached != found.predicted)).any())
            assert accuracy(reached, data) >= found.certified_accuracy(budget) - 1e-9


@pytest.mark.parametrize("name", BUILTIN)
@pytest.mark.parametrize(("num_steps", "mode"), [(1, "flip"), (2, "remove"), (2, "flip")])
def test_no_attack_goes_below_the_collective_certificate(name, num_steps, mode):
    data = graph(0)
    model = GADC(variant="plain", norm="rw", lam=9.0, num_steps=num_steps, epochs=30)
    fitted = model.fit(data)
    diffusion = linear_diffusion(model, fitted, data)
    found = certify_collective(diffusion, data.y, NODES, mode=mode, budgets=[1, 4, 12])
    for budget in (1, 4, 12):
        flips = flips_of(name, fitted.scores, data, budget, mode=mode)
        assert len(flips) <= budget
        reached = accuracy(classes(fitted.scores, flips.apply(data)), data)
        assert reached >= found.certified_accuracy(budget) - 1e-9


@pytest.mark.parametrize("name", BUILTIN)
def test_no_attack_goes_below_the_certificate_of_votes(name):
    data = graph(1)
    settings = PartVotes(parts=11, neighbors=3, penalty=0.1)
    for base_votes in (0, 4):
        found = certify_votes(settings.fit(data), data.y, NODES, base_votes=base_votes)
        for budget in (1, 3):
            flips = flips_of(name, stand_in_scores(data), data, budget)
            reached = certify_votes(settings.fit(flips.apply(data)), data.y, NODES, base_votes=base_votes)
            assert not bool((found.certified(budget) & (reached.predicted != found.predicted)).any())
            assert reached.accuracy >= found.certified_accuracy(budget) - 1e-9


PAIRS = torch.tensor(list(combinations(range(5), 2))).T
VARIATIONS = (torch.arange(2 ** PAIRS.shape[1]).unsqueeze(1) >> torch.arange(PAIRS.shape[1]) & 1).bool()


def small_graph(present, x, y):
    ends = PAIRS[:, present]
    return Data(
        x=x, y=y, edge_index=torch.cat([ends, ends.flip(0)], 1), train_mask=torch.ones(5, dtype=torch.bool)
    )


def smoothed(present, one_hot, smoothing):
    """The exact probabilities of the classes of each node over all variations of a graph of five nodes."""
    edge = torch.where(present, 1 - smoothing.remove, smoothing.add).double()  # chance that a pair is an edge
    return torch.einsum("g,gnc->nc", torch.where(VARIATIONS, edge, 1 - edge).prod(1), one_hot)


@pytest.fixture(scope="module")
def classified():
    """A GCN, and what it says on every graph of five nodes with the features of some nodes."""
    scores = make_model("gcn", epochs=20).fit(graph(0)).scores
    x, y = graph(0).x[[3, 11, 19, 27, 35]], torch.tensor([0, 1, 0, 1, 0])
    said = torch.stack([classes(scores, small_graph(one, x, y)) for one in VARIATIONS])
    return scores, x, y, torch.nn.functional.one_hot(said, 2).double()


@pytest.mark.parametrize("name", BUILTIN)
def test_no_attack_goes_below_the_certificate_of_smoothing(name, classified):
    """On five nodes, a GCN is smoothed exactly over all 1,024 graphs, so nothing is left to chance."""
    scores, x, y, one_hot = classified
    smoothing = Smoothing(mode="flip", add=0.05, remove=0.3)
    held = 0
    for seed in range(4):
        present = VARIATIONS[(seed * 331 + 77) % len(VARIATIONS)]
        clean = smoothed(present, one_hot, smoothing)
        radii = torch.tensor([smoothing.radius(min(float(one), 0.99)) for one in clean.amax(1)])
        for budget in (1, 2):
            flips = flips_of(name, scores, small_graph(present, x, y), budget, seed=seed)
            hit = (PAIRS.T.unsqueeze(1) == flips.pairs.T.unsqueeze(0)).all(2).any(1)
            reached = smoothed(present ^ hit, one_hot, smoothing)
            safe = radii >= budget
            held += int(safe.sum())
            assert torch.equal(reached.argmax(1)[safe], clean.argmax(1)[safe])
    assert held > 0


@pytest.mark.parametrize("norm", ["l2", "flips"])
@pytest.mark.parametrize("seed", range(3))
def test_no_attack_goes_below_the_certificate_of_features(norm, seed):
    data = graph(seed)
    if norm == "flips":
        data.x = (data.x > 0).float()
    model = GADC(variant="plain", lam=3.0, num_steps=3, epochs=30)
    fitted = model.fit(data)
    head = fitted.module.layers[0]
    with torch.no_grad():
        features, diffuse = model.diffusion(data.x, data.edge_index, data.edge_weight)
        influence = diffuse(torch.eye(40))
    size = 2.0 if norm == "flips" else 0.5
    found = certify_features(
        influence,
        features,
        head.weight.detach(),
        data.y,
        NODES,
        bias=head.bias.detach(),
        norm=norm,
        size=size,
    )
    attack = FeatureAttack(norm="l0" if norm == "flips" else "l2", num_steps=10)
    for budget in (1, 3, 10):
        changed = data.clone()
        rows = influence.abs().sum(0).argsort(descending=True)[:budget]
        changed.x = attack(fitted.scores, data, nodes=NODES, budget=size, rows=rows)
        reached = classes(fitted.scores, changed)
        assert not bool((found.certified(budget) & (reached != found.predicted)).any())


@pytest.mark.parametrize("seed", range(3))
def test_no_wrong_labels_go_below_the_certificate_of_labels(seed):
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(40, 5, generator=generator, dtype=torch.float64)
    y, train = torch.randint(3, (40,), generator=generator), torch.arange(15)
    found = certify_labels(features, y, train, NODES)
    smoother = ridge_smoother(features[train], features, 1.0)
    for budget in range(1, 6):
        tried = [_harmful_labels(smoother, y, y[train], budget)]
        for _ in range(20):
            labels = y[train].clone()
            labels[torch.randperm(15, generator=generator)[:budget]] = torch.randint(
                3, (budget,), generator=generator
            )
            tried.append(labels)
        for labels in tried:
            reached = (smoother @ ridge_targets(labels, 3, smoother.dtype)).argmax(1)
            assert not bool((found.certified(budget) & (reached != found.predicted)).any())
