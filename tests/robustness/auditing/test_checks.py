"""Each check on figures made by hand: it can pass, and it can fail."""

from dataclasses import replace

import pytest

from gadc.robustness.auditing import AuditResult, Finding, GradientProbe, check_all, strongest_attacks
from gadc.robustness.auditing import _checks as checks

SOUND = GradientProbe(edges_matter=True, gradient_norm=2.0, slope=1.9)


def finding(attack="PGD", rate=0.1, evasion=50.0, **changes):
    fields = {
        "attack": attack,
        "kind": "adaptive",
        "loss": "tanh-margin",
        "rate": rate,
        "budget": 10,
        "flips": 10,
        "seed": 0,
        "evasion": evasion,
        "poisoning": None,
        "valid": True,
        "seconds": 0.0,
    }
    return Finding(**(fields | changes))


@pytest.mark.parametrize(
    ("probe", "passed", "said"),
    [
        (SOUND, True, "2 / 1.9"),
        (GradientProbe(edges_matter=True, gradient_norm=None), False, "pass no gradient"),
        (GradientProbe(edges_matter=True, gradient_norm=0.0), False, "it is 0, although flips"),
        (GradientProbe(edges_matter=True, gradient_norm=2.0, slope=0.1), False, "finite differences 0.1"),
        (GradientProbe(edges_matter=True, gradient_norm=2.0, slope=-2.0), False, "finite differences -2"),
        (GradientProbe(edges_matter=True, gradient_norm=1e-9, slope=1e-7, rounding_error=1e-6), True, ""),
        (GradientProbe(edges_matter=False, gradient_norm=None), None, "do not depend on the edges"),
    ],
)
def test_the_gradient(probe, passed, said):
    check = checks.gradient_is_true([SOUND, probe] if probe.edges_matter else [probe])
    assert check.passed is passed
    assert said in check.detail


@pytest.mark.parametrize(("later", "passed"), [(40.0, True), (50.5, True), (52.0, False)])
def test_more_budget_never_helps(later, passed):
    found = [finding(rate=0.2, evasion=later), finding(rate=0.1)]
    assert checks.budget_never_helps(found, [80.0], slack=1.0).passed is passed


def test_an_attack_never_helps_either():
    assert checks.budget_never_helps([finding()], [45.0], slack=1.0).passed is False
    assert checks.budget_never_helps([], [45.0], slack=1.0).passed is None


def test_the_adaptive_attack_is_never_weaker():
    transfer = finding("transfer", evasion=45.0, kind="transfer")
    assert checks.adaptive_is_not_weaker([finding(), transfer], slack=1.0).passed is False
    assert checks.adaptive_is_not_weaker([finding(), transfer], slack=6.0).passed is True
    better = finding("PRBCD", evasion=44.0)
    assert checks.adaptive_is_not_weaker([finding(), better, transfer], slack=1.0).passed is True
    retrained = replace(transfer, evasion=60.0, poisoning=20.0)  # compared by evasion alone
    assert checks.adaptive_is_not_weaker([finding(), retrained], slack=1.0).passed is True
    assert checks.adaptive_is_not_weaker([finding()], slack=1.0).passed is None
    assert checks.adaptive_is_not_weaker([finding(rate=0.2), transfer], slack=1.0).passed is None


@pytest.mark.parametrize(("left", "passed"), [(10.0, True), (64.0, True), (66.0, False)])
def test_an_unlimited_budget(left, passed):
    assert checks.unlimited_leaves_features([left], [60.0], 30.0).passed is passed
    assert checks.unlimited_leaves_features([left], [30.0], 60.0).passed is passed


def test_several_losses():
    other = finding("PRBCD", loss="cross-entropy")
    assert checks.several_losses([finding(), other]).passed is True
    assert checks.several_losses([finding(), replace(other, kind="transfer")]).passed is False
    assert checks.several_losses([finding(loss=None, kind="blind")]).passed is None


def test_budgets_are_kept():
    assert checks.budgets_are_kept([finding()]).passed is True
    broken = checks.budgets_are_kept([finding(), finding("DICE", valid=False)])
    assert broken.passed is False
    assert "DICE" in broken.detail
    assert checks.budgets_are_kept([]).passed is None


def test_few_nodes_leave_more_to_chance():
    found = [finding(), finding(rate=0.2, evasion=53.0)]
    common = {"probes": [SOUND], "clean": [80.0], "unlimited": [10.0], "graph_free": [60.0], "trivial": 30.0}
    assert check_all(found, tested=1000, **common)[1].passed is False
    assert check_all(found, tested=50, **common)[1].passed is True


def test_the_strongest_is_one_attack_on_average_over_seeds():
    found = [
        finding("A", evasion=10.0),
        finding("A", evasion=70.0, seed=1),
        finding("B", evasion=35.0),
        finding("B", evasion=35.0, seed=1),
        finding("C", rate=0.05, evasion=None, poisoning=66.0),
    ]
    assert [(one.rate, one.attack, one.accuracy) for one in strongest_attacks(found)] == [
        (0.05, "C", 66.0),
        (0.1, "B", 35.0),
    ]


def test_one_failing_check_fails_the_audit():
    passing = checks.Check(name="a", passed=True, detail="")
    unjudged = replace(passing, passed=None)
    fields = {"clean": (80.0,), "graph_free": (60.0,), "unlimited": (10.0,), "trivial": 30.0, "tested": 10}
    result = AuditResult(findings=(finding(),), failures={}, checks=(passing, unjudged), **fields)
    assert result.passed
    assert result.to_dict()["strongest"] == [{"rate": 0.1, "attack": "PGD", "accuracy": 50.0}]
    assert not replace(result, checks=(passing, replace(passing, passed=False))).passed
