"""Audits of small graphs: the honest defender passes, the others are found out."""

from dataclasses import replace

import pytest
import torch

from gadc.models import make_model
from gadc.robustness import AUDIT_ATTACKS, FAST_AUDIT_ATTACKS, AuditAttack, audit
from gadc.robustness.auditing import count_stages, fit_of, probe_gradient
from gadc.robustness.auditing._validity import is_valid_attack
from tests.helpers import audit_models as models

GRADIENT, BUDGET, ADAPTIVE, UNLIMITED, LOSSES, KEPT = range(6)


def run(fit, **changes):
    asked = {"attacks": models.EVASION, "rates": (0.1, 0.2), "poisoning": False} | changes
    return audit(fit, models.graph(), **asked)


def verdicts(result):
    return [check.passed for check in result.checks]


@pytest.fixture(scope="module")
def honest():
    return run(models.honest, attacks=models.QUICK, poisoning=True)


def test_an_honest_defender_passes(honest):
    assert verdicts(honest) == [True] * 6
    assert honest.passed
    assert not honest.failures
    assert [one.rate for one in honest.strongest] == [0.1, 0.2]
    assert honest.strongest[1].accuracy < honest.clean[0] - 10


def test_evasion_and_poisoning_are_told_apart(honest):
    by_attack = {one.attack: one for one in honest.findings}
    assert by_attack["Metattack"].evasion is None
    assert by_attack["PGD"].evasion is not None
    assert by_attack["PGD"].poisoning is not None
    assert by_attack["PGD"].accuracy == min(by_attack["PGD"].evasion, by_attack["PGD"].poisoning)
    assert by_attack["random"].loss is None
    assert all(one.flips <= one.budget for one in honest.findings)


def test_a_seed_decides_everything():
    asked = {"attacks": models.QUICK[1:4], "rates": (0.1,), "poisoning": True, "seeds": (3,)}
    first, again = (run(models.honest, **asked) for _ in range(2))
    timeless = [tuple(replace(one, seconds=0.0) for one in result.findings) for result in (first, again)]
    assert timeless[0] == timeless[1]
    assert first.checks == again.checks


def test_the_strongest_figure_is_the_least(honest):
    for one in honest.strongest:
        assert one.accuracy == min(f.accuracy for f in honest.findings if f.rate == one.rate)


@pytest.mark.parametrize("fit", [models.rounded, models.saturated])
def test_masked_gradients_are_found_out(fit):
    found = verdicts(run(fit))
    assert [found[GRADIENT], found[ADAPTIVE], found[UNLIMITED]] == [False, False, False]


def test_detached_gradients_are_found_out():
    result = run(models.detached)
    assert verdicts(result)[GRADIENT] is False
    assert verdicts(result)[ADAPTIVE] is None
    assert not result.passed
    assert set(result.failures) == {"PGD", "FGA"}
    assert "no gradient" in result.failures["PGD"]


def test_scores_of_another_graph_are_found_out():
    found = verdicts(run(models.remembering))
    assert found[GRADIENT] is None
    assert found[UNLIMITED] is False


def test_a_model_without_the_graph_is_not_blamed():
    result = run(models.graph_free, poisoning=True)
    assert result.passed
    found = verdicts(result)
    assert [found[GRADIENT], found[ADAPTIVE], found[LOSSES]] == [None, None, None]
    assert {one.accuracy for one in result.findings} == set(result.clean)


def test_several_seeds_and_splits():
    graphs = {seed: models.graph(num_nodes=60 + 20 * seed) for seed in (0, 1)}
    told = []
    asked = {"attacks": models.EVASION[:1], "rates": (0.1,), "seeds": (0, 1)}
    result = audit(models.graph_free, graphs.__getitem__, progress=told.append, **asked)
    assert len(result.clean) == len(result.graph_free) == len(result.unlimited) == 2
    assert {one.seed for one in result.findings} == {0, 1}
    assert result.tested == 12
    assert len(told) == count_stages(asked["rates"], asked["attacks"], asked["seeds"])


def test_attacks_too_large_for_a_graph_are_left_out():
    entry = replace(models.EVASION[0], max_nodes=50)
    result = run(models.graph_free, attacks=(entry,))
    assert not result.findings
    assert "50 nodes" in result.failures["random"]
    assert verdicts(result)[KEPT] is None


def test_a_model_of_ours_is_audited_by_its_scores():
    data = models.graph(num_nodes=40)
    fit = fit_of(make_model("gadc", variant="IV", series="last", num_steps=2, epochs=20))
    probe = probe_gradient(fit(data, 0), data, torch.nonzero(data.test_mask).flatten())
    assert probe.edges_matter
    assert probe.slope == pytest.approx(probe.gradient_norm, rel=0.05)


def test_a_wrong_gradient_is_not_believed():
    data = models.graph(num_nodes=40)
    scores, nodes = models.honest(data, 0), torch.nonzero(data.test_mask).flatten()

    class Tripled(torch.autograd.Function):
        @staticmethod
        def forward(context, weight):
            return weight.clone()

        @staticmethod
        def backward(context, slope):
            return 3 * slope

    def lying(x, edge_index, edge_weight=None):
        return scores(x, edge_index, None if edge_weight is None else Tripled.apply(edge_weight))

    true, wrong = (probe_gradient(one, data, nodes) for one in (scores, lying))
    assert true.slope == pytest.approx(true.gradient_norm, rel=0.05)
    assert wrong.gradient_norm == pytest.approx(3 * true.gradient_norm)
    assert wrong.slope == pytest.approx(true.gradient_norm, rel=0.05)


@pytest.mark.parametrize(
    ("change", "valid"),
    [
        ("nothing", True),
        ("one pair", True),
        ("two pairs", False),
        ("one direction", False),
        ("a loop", False),
        ("an edge twice", False),
    ],
)
def test_budgets_are_judged_by_the_graphs(change, valid):
    data = models.graph(num_nodes=30)
    edges = data.edge_index
    absent = [(0, v) for v in range(1, 30) if not bool(((edges[0] == 0) & (edges[1] == v)).any())]
    (a, b), (c, d) = absent[:2]
    extra = {
        "nothing": [],
        "one pair": [(a, b), (b, a)],
        "two pairs": [(a, b), (b, a), (c, d), (d, c)],
        "one direction": [(a, b)],
        "a loop": [(3, 3)],
        "an edge twice": [tuple(edges[:, 0].tolist()), tuple(edges[:, 0].flip(0).tolist())],
    }[change]
    attacked = data.clone()
    attacked.edge_index = torch.cat([edges, torch.tensor(extra, dtype=torch.int64).reshape(-1, 2).T], 1)
    assert is_valid_attack(data, attacked, 1) is valid


def test_requests_that_make_no_sense():
    with pytest.raises(ValueError, match="each of rates must be finite and > 0, got 0"):
        run(models.graph_free, rates=(0.0,))
    with pytest.raises(ValueError, match="kind must be one of"):
        AuditAttack(name="x", kind="other", attack="random")
    data = models.graph(num_nodes=30)
    data.test_mask = torch.zeros_like(data.test_mask)
    with pytest.raises(ValueError, match="test_mask must name at least one node"):
        audit(models.graph_free, data)


@pytest.mark.parametrize("attacks", [AUDIT_ATTACKS, FAST_AUDIT_ATTACKS])
def test_batteries_have_what_the_checks_compare(attacks):
    kinds = {entry.kind for entry in attacks}
    assert kinds >= {"blind", "transfer", "adaptive"}
    assert len({entry.make().loss for entry in attacks if entry.kind == "adaptive"}) > 1
    assert len({entry.name for entry in attacks}) == len(attacks)
