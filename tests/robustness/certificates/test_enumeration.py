"""Every certificate against every admissible perturbation of small random problems.

Exact certificates equal the worst perturbation; sound ones are never beaten by any. Each check returns how
many problems it solved and how many perturbations it tried. A few run in every test run, thousands of
problems per certificate with `make slow`. A new certificate is one more row of `CHECKS`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from torch_geometric.data import Data

from gadc.robustness import certificates
from gadc.robustness.certificates import (
    LinearDiffusion,
    LocalFlips,
    PartVotes,
    Votes,
    certify_collective,
    certify_edges,
    certify_features,
    certify_labels,
    certify_votes,
)
from gadc.robustness.certificates._smoothing import worst_mass
from gadc.robustness.certificates._votes import part_of
from tests.helpers import perturbations as all_of
from tests.robustness.certificates.test_edges import everything, small_diffusion

Counts = tuple[int, int]  # problems, perturbations
MODES = st.sampled_from(["remove", "add", "flip"])
SEEDS = st.integers(0, 2**24)
ROUNDING = 1e-9


def together(parts, weighted):
    """Join small diffusions as the components of one graph, between which no edge can be added."""
    if len(parts) == 1 and not weighted:
        return parts[0][0]  # the form without weights of pairs
    weights = np.asarray(sparse.block_diag([part[2].numpy() for part in parts]).todense())
    return LinearDiffusion(
        scores=np.concatenate([part[0].scores for part in parts]),
        edges=sparse.csr_array(sparse.block_diag([part[0].edges for part in parts])),
        fixed=sparse.csr_array(sparse.block_diag([part[0].fixed for part in parts])),
        pair_weights=lambda rows: weights[rows],
        lam=parts[0][0].lam,
        theta=parts[0][0].theta,
    )


def certified_and_enumerated(seed, n, count, *, mode, budget, weighted, undirected=False, **series):
    """The worst margins by the certificate and by enumeration, of `count` graphs of n nodes each."""
    parts = [small_diffusion(seed * 64 + k, n, weighted=weighted, **series) for k in range(count)]
    whole = together(parts, weighted)
    nodes = torch.arange(whole.num_nodes)
    found = certify_edges(whole, torch.zeros_like(nodes), nodes, LocalFlips(mode=mode, budgets=[budget]))
    expected, tried = [], 0
    for diffusion, edges, weights, fixed in parts:
        limits = [budget] * n
        graphs = (
            all_of.undirected_graphs(edges, everything(n), mode, local=limits)
            if undirected
            else all_of.directed_graphs(edges, everything(n), mode, limits)
        )
        T = all_of.transitions(graphs, weights, fixed)
        scores = torch.from_numpy(diffusion.scores)
        out = all_of.diffused(T, scores, lam=diffusion.lam, theta=diffusion.theta)
        expected.append(all_of.worst_margins(out, torch.from_numpy(diffusion.diffused().argmax(1))))
        tried += len(graphs)
    return found.margins[0], torch.cat(expected), (count, tried)


def converged(seed, mode, weighted, budget, lam, count) -> Counts:
    """Policy iteration equals the worst of all graphs whose rows are changed one by one."""
    n = 5 if budget < 2 else 4
    found, expected, counts = certified_and_enumerated(
        seed, n, count, mode=mode, budget=budget, weighted=weighted, lam=lam
    )
    torch.testing.assert_close(found, expected, atol=ROUNDING, rtol=ROUNDING)
    return counts


def converged_undirected(seed, mode, weighted, budget, count) -> Counts:
    """Policy iteration is never beaten by undirected flips."""
    found, expected, counts = certified_and_enumerated(
        seed, 5, count, mode=mode, budget=budget, weighted=weighted, undirected=True, lam=4.0
    )
    assert bool((found <= expected + ROUNDING).all())
    return counts


def finite(seed, mode, weighted, budget, steps, count) -> Counts:
    """Finite steps are never beaten, and exact for one step."""
    n = 5 if budget < 2 else 4
    theta = tuple(0.5 * 0.7**k for k in range(steps + 1))
    found, expected, counts = certified_and_enumerated(
        seed, n, count, mode=mode, budget=budget, weighted=weighted, theta=theta
    )
    assert bool((found <= expected + ROUNDING).all())
    if steps < 2:
        torch.testing.assert_close(found, expected, atol=ROUNDING, rtol=ROUNDING)
    return counts


def collective(seed, mode, weighted, budget, steps) -> Counts:
    """No graph within the budget fools more nodes at once than the bound allows."""
    n = 7 if budget < 3 else 6
    theta = tuple(0.4 * 0.9**k for k in range(steps + 1))
    diffusion, edges, weights, fixed = small_diffusion(seed, n, weighted=weighted, theta=theta)
    y = torch.from_numpy(diffusion.diffused().argmax(1))
    graphs = all_of.undirected_graphs(edges, everything(n), mode, total=budget)
    T = all_of.transitions(graphs, weights, fixed)
    out = all_of.diffused(T, torch.from_numpy(diffusion.scores), lam=None, theta=theta)
    fooled = int((all_of.margins(out, y) < -ROUNDING).sum(1).max())
    found = certify_collective(diffusion, y, torch.arange(n), mode=mode, budgets=[budget])
    assert found.certified_accuracy(budget) <= 100 * (n - fooled) / n + ROUNDING
    return 1, len(graphs)


def labels(seed, num_classes, penalty) -> Counts:
    """The radius equals what trying all wrong labels finds."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(8) % num_classes
    noise = torch.randn(8, 4, generator=generator, dtype=torch.float64)
    features = 1.5 * torch.eye(4, dtype=torch.float64)[y] + noise  # so that several wrong labels are needed
    train, nodes = torch.arange(5 if num_classes > 3 else 6), torch.tensor([6, 7, 0])
    found = certify_labels(features, y, train, nodes, penalty=penalty)
    expected = [
        all_of.label_radius(features, y, train, node, penalty, num_classes) for node in nodes.tolist()
    ]
    assert found.radii.tolist() == expected
    return 1, num_classes ** len(train)


def linear_model(seed, n, d):
    """Influence (some below 0), features, weights of three classes, and a bias."""
    generator = torch.Generator().manual_seed(seed)
    influence = torch.rand(n, n, generator=generator, dtype=torch.float64) - 0.2
    draw = {"generator": generator, "dtype": torch.float64}
    return influence, torch.randn(n, d, **draw), torch.randn(3, d, **draw), 0.1 * torch.randn(3, **draw)


def feature_radii_equal(found, rows, influence, weight, bias) -> Counts:
    """Compare radii with the fewest changed nodes among all changed features that change a prediction."""
    changed, number = all_of.changed_features(rows)
    margins = all_of.margins(influence @ changed @ weight.T + bias, found.predicted)
    for node, radius in enumerate(found.radii.tolist()):
        beaten = number[margins[:, node] <= 1e-12]
        assert radius == (int(beaten.min()) - 1 if len(beaten) else len(rows))
    return 1, len(changed)


def feature_flips(seed, size) -> Counts:
    """The radius equals what flipping all sets of entries of all sets of nodes finds."""
    influence, x, weight, bias = linear_model(seed, 4, 3)
    x, nodes = (x > 0).double(), torch.arange(4)
    found = certify_features(
        influence, x, weight, torch.zeros(4).long(), nodes, bias=bias, norm="flips", size=size
    )
    return feature_radii_equal(found, all_of.flipped_rows(x, size), influence, weight, bias)


def feature_moves(seed, size) -> Counts:
    """The radius in l2 equals what a fan of directions with the worst ones among them finds."""
    influence, x, weight, bias = linear_model(seed, 3, 2)
    found = certify_features(
        influence, x, weight, torch.zeros(3).long(), torch.arange(3), bias=bias, size=size
    )
    angles = torch.arange(8, dtype=torch.float64) * torch.pi / 4
    pairs = torch.combinations(torch.arange(3))
    worst = torch.nn.functional.normalize(weight[pairs[:, 0]] - weight[pairs[:, 1]])
    fan = torch.cat([torch.zeros(1, 2), torch.stack([angles.cos(), angles.sin()], 1), worst, -worst])
    return feature_radii_equal(found, [row + size * fan for row in x], influence, weight, bias)


def least_changes(distance, predicted):
    """The fewest changes that change a prediction, for each problem and node; the largest number for none."""
    differs = predicted.unsqueeze(1) != predicted.unsqueeze(0)  # (problems, problems, nodes)
    far = int(distance.max()) + 1
    return torch.where(differs, distance.unsqueeze(2), far).amin(1)


def votes_of_parts(seed, num_classes, base_votes) -> Counts:
    """The radius equals the fewest parts that must say something else, whatever they say."""
    parts = 5 if num_classes < 4 else 4
    base = seed % num_classes
    options = torch.tensor([-1, *(one for one in range(num_classes) if one != base)])
    said = options[torch.cartesian_prod(*[torch.arange(num_classes)] * parts)]  # (problems, parts)
    count = len(said)
    votes = Votes(torch.full((count,), base), said.T, num_classes, 0.0)
    found = certify_votes(votes, torch.zeros(count).long(), torch.arange(count), base_votes=base_votes)
    distance = (said.unsqueeze(1) != said.unsqueeze(0)).sum(2)
    fewest = least_changes(distance, found.predicted.unsqueeze(1)).squeeze(1)
    assert torch.equal(found.radii, torch.where(fewest > distance.max(), parts, fewest - 1))
    return count, count**2


def votes_of_graphs(seed, base_votes) -> Counts:
    """Votes that are trained on all 1,024 graphs of five nodes agree with every graph within the radius."""
    n, parts = 5, 5
    generator = torch.Generator().manual_seed(seed)
    y = torch.tensor([0, 1, 0, 1, 0])
    x = torch.randn(n, 3, generator=generator) + 0.3 * (2 * y - 1).unsqueeze(1)
    train = torch.tensor([True, True, False, True, False])
    model = PartVotes(parts=parts, neighbors=1, anchor_steps=1, penalty=0.1, strength=4.0, seed=seed)
    pairs = torch.combinations(torch.arange(n)).T
    part = part_of(pairs, parts, seed)
    graphs = torch.arange(2 ** pairs.shape[1]).unsqueeze(1) >> torch.arange(pairs.shape[1]) & 1
    said = torch.empty(parts, len(graphs), n, dtype=torch.long)
    for number in range(parts):  # a part reads its own pairs only, so it is trained once per subset of them
        subsets, which = torch.unique(graphs * (part == number), dim=0, return_inverse=True)
        fitted = []
        for chosen in subsets.bool():
            ends = pairs[:, chosen]
            data = Data(x=x, y=y, edge_index=torch.cat([ends, ends.flip(0)], 1))
            data.train_mask, data.val_mask = train, ~train
            fitted.append(model.fit(data))
        said[number] = torch.stack([one.parts[number] for one in fitted])[which]
    votes = Votes(fitted[0].base.repeat(len(graphs)), said.reshape(parts, -1), 2, 0.0)
    everyone = torch.arange(n * len(graphs))
    found = certify_votes(votes, torch.zeros_like(everyone), everyone, base_votes=base_votes)
    distance = (graphs.unsqueeze(1) != graphs.unsqueeze(0)).sum(2)
    fewest = least_changes(distance, found.predicted.reshape(-1, n))
    assert bool((found.radii.reshape(-1, n) < fewest).all())
    return len(graphs), len(graphs) ** 2


def smoothing(seed, add, remove, share) -> Counts:
    """An arbitrary classifier of all graphs of four nodes, smoothed exactly, on every pair of graphs."""
    graphs = (
        np.array(np.meshgrid(*[[0, 1]] * 6)).reshape(6, -1).T
    )  # all 64 graphs: which of 6 pairs are edges
    same = np.where(graphs == 1, 1 - remove, 1 - add)[:, None, :]
    chances = np.where(graphs[:, None, :] == graphs[None, :, :], same, 1 - same).prod(2)
    says_a = np.random.default_rng(seed).random(64) < share
    reached = chances @ says_a
    known: dict[tuple[float, int, int], float] = {}
    for clean, probability in zip(graphs, reached, strict=True):
        for attacked, mass in zip(graphs, reached, strict=True):
            key = (probability, int((attacked > clean).sum()), int((attacked < clean).sum()))
            if key not in known:
                known[key] = worst_mass(*key, add, remove)
            assert known[key] <= mass + ROUNDING
    return 64, 64 * 64


@dataclass(frozen=True)
class Check:
    """A check, what its arguments are drawn from, and how often it runs with `make slow`."""

    run: Callable[..., Counts]
    drawn: dict[str, st.SearchStrategy]
    often: int
    certifies: str
    usual: int = 5


BUDGETS = st.integers(0, 2)
WEIGHTED = st.booleans()
MANY = st.sampled_from([1, 25])
EDGES = {"seed": SEEDS, "mode": MODES, "weighted": WEIGHTED, "budget": BUDGETS}
CHECKS = {
    "edges, converged": Check(
        converged, {**EDGES, "lam": st.sampled_from([0.5, 4.0]), "count": MANY}, 300, "certify_edges"
    ),
    "edges, converged, undirected": Check(
        converged_undirected, {**EDGES, "count": MANY}, 300, "certify_edges"
    ),
    "edges, finite": Check(
        finite, {**EDGES, "steps": st.integers(0, 4), "count": MANY}, 300, "certify_edges"
    ),
    "collective": Check(
        collective,
        {**EDGES, "budget": st.integers(1, 3), "steps": st.integers(0, 3)},
        2000,
        "certify_collective",
        40,
    ),
    "labels": Check(
        labels,
        {"seed": SEEDS, "num_classes": st.integers(2, 4), "penalty": st.sampled_from([0.1, 1.0, 10.0])},
        3000,
        "certify_labels",
        40,
    ),
    "features, flips": Check(
        feature_flips, {"seed": SEEDS, "size": st.integers(1, 2)}, 3000, "certify_features", 40
    ),
    "features, l2": Check(
        feature_moves,
        {"seed": SEEDS, "size": st.floats(0.02, 1.5)},
        3000,
        "certify_features",
        40,
    ),
    "votes, of parts": Check(
        votes_of_parts,
        {"seed": SEEDS, "num_classes": st.integers(2, 4), "base_votes": st.integers(0, 6)},
        200,
        "certify_votes",
    ),
    "votes, of graphs": Check(
        votes_of_graphs, {"seed": SEEDS, "base_votes": st.integers(0, 2)}, 20, "certify_votes", 1
    ),
    "smoothing": Check(
        smoothing,
        {
            "seed": SEEDS,
            "add": st.sampled_from([0.0, 0.1, 0.3]),
            "remove": st.sampled_from([0.1, 0.4, 0.7]),
            "share": st.sampled_from([0.5, 0.8, 0.95]),
        },
        150,
        "certify_smoothing",
        2,
    ),
}


def enumerated(check, examples) -> Counts:
    """Run a check on random problems and add up what it tried."""
    counts = []

    @settings(max_examples=examples)
    @given(**check.drawn)
    def run(**drawn):
        counts.append(check.run(**drawn))

    run()
    problems, tried = zip(*counts, strict=True)
    return sum(problems), sum(tried)


@pytest.mark.parametrize("name", CHECKS)
def test_certificates_hold_on_every_perturbation_of_a_few_problems(name):
    problems, tried = enumerated(CHECKS[name], CHECKS[name].usual)
    assert problems >= CHECKS[name].usual
    assert tried > problems


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
def test_certificates_hold_on_every_perturbation_of_thousands_of_problems(name):
    problems, tried = enumerated(CHECKS[name], CHECKS[name].often)
    assert problems >= 2000
    assert tried >= 100_000


def test_every_certificate_is_enumerated():
    public = {name for name in certificates.__all__ if name.startswith("certify_")}
    assert {check.certifies for check in CHECKS.values()} == public
