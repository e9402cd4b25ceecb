"""Each check on figures made by hand, where it passes and where it fails."""

from dataclasses import replace

import pytest

from gadc.robustness.auditing import GradientProbe, check_all
from gadc.robustness.auditing import _checks as checks
from tests.helpers.audit_models import make_finding

SOUND = GradientProbe(edges_matter=True, gradient_norm=2.0, slope=1.9)


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
def test_gradient_is_true_passes_confirmed_gradients_only(probe, passed, said):
    check = checks.gradient_is_true([SOUND, probe] if probe.edges_matter else [probe])
    assert check.passed is passed
    assert said in check.detail


@pytest.mark.parametrize(("later", "passed"), [(40.0, True), (50.5, True), (52.0, False)])
def test_budget_never_helps_fails_if_accuracy_rises_with_the_budget(later, passed):
    found = [make_finding(rate=0.2, evasion=later), make_finding(rate=0.1)]
    assert checks.budget_never_helps(found, [80.0], slack=1.0).passed is passed


def test_budget_never_helps_fails_if_an_attack_raises_the_accuracy():
    assert checks.budget_never_helps([make_finding()], [45.0], slack=1.0).passed is False
    assert checks.budget_never_helps([], [45.0], slack=1.0).passed is None


@pytest.mark.parametrize(("unlimited", "passed"), [(50.5, True), (10.0, True), (58.0, False)])
def test_budget_never_helps_compares_the_unlimited_budget_with_all_others(unlimited, passed):
    found = [make_finding(evasion=70.0), make_finding("DICE", rate=0.2, evasion=50.0, poisoning=20.0)]
    check = checks.budget_never_helps(found, [80.0], [unlimited], slack=1.0)
    assert check.passed is passed
    assert f"unlimited: {unlimited}" in check.detail


def test_checks_of_figures_that_could_not_be_measured_are_not_judged():
    assert checks.gradient_is_true([]).passed is None
    assert checks.unlimited_leaves_features([], [60.0], 30.0).passed is None
    assert checks.unlimited_leaves_features([60.0], [], 30.0).passed is None


def test_adaptive_is_not_weaker_compares_evasion_at_equal_rates():
    transfer = make_finding("transfer", evasion=45.0, kind="transfer")
    assert checks.adaptive_is_not_weaker([make_finding(), transfer], slack=1.0).passed is False
    assert checks.adaptive_is_not_weaker([make_finding(), transfer], slack=6.0).passed is True
    better = make_finding("PRBCD", evasion=44.0)
    assert checks.adaptive_is_not_weaker([make_finding(), better, transfer], slack=1.0).passed is True
    retrained = replace(transfer, evasion=60.0, poisoning=20.0)  # compared by evasion alone
    assert checks.adaptive_is_not_weaker([make_finding(), retrained], slack=1.0).passed is True
    assert checks.adaptive_is_not_weaker([make_finding()], slack=1.0).passed is None
    assert checks.adaptive_is_not_weaker([make_finding(rate=0.2), transfer], slack=1.0).passed is None


@pytest.mark.parametrize(("left", "passed"), [(10.0, True), (64.0, True), (66.0, False)])
def test_unlimited_leaves_features_compares_with_features_and_largest_class(left, passed):
    assert checks.unlimited_leaves_features([left], [60.0], 30.0).passed is passed
    assert checks.unlimited_leaves_features([left], [30.0], 60.0).passed is passed


def test_several_losses_counts_losses_of_adaptive_attacks():
    other = make_finding("PRBCD", loss="cross-entropy")
    assert checks.several_losses([make_finding(), other]).passed is True
    assert checks.several_losses([make_finding(), replace(other, kind="transfer")]).passed is False
    assert checks.several_losses([make_finding(loss=None, kind="blind")]).passed is None


def test_budgets_are_kept_names_the_attack_that_breaks_them():
    assert checks.budgets_are_kept([make_finding()]).passed is True
    broken = checks.budgets_are_kept([make_finding(), make_finding("DICE", valid=False)])
    assert broken.passed is False
    assert "DICE" in broken.detail
    assert checks.budgets_are_kept([]).passed is None


@pytest.mark.parametrize(
    ("clean", "balanced", "passed"),
    [(96.7, 50.0, False), (97.0, 54.0, False), (99.0, 50.0, True), (95.0, 75.0, True)],
)
def test_beats_largest_class_fails_models_that_always_answer_with_it(clean, balanced, passed):
    check = checks.beats_largest_class([clean], [balanced], 96.7, 2, slack=1.0)
    assert check.passed is passed
    assert "largest class 96.7" in check.detail
    assert checks.beats_largest_class([clean], [balanced], 100.0, 1, slack=1.0).passed is None


def test_beats_shuffled_labels_fails_models_that_learn_nothing():
    assert checks.beats_shuffled_labels([80.0], [50.0], slack=1.0).passed is True
    assert checks.beats_shuffled_labels([50.0], [49.5], slack=1.0).passed is False
    assert checks.beats_shuffled_labels([50.0], [], slack=1.0).passed is None


def test_check_all_allows_more_chance_for_few_nodes():
    found = [make_finding(), make_finding(rate=0.2, evasion=53.0)]
    common = {"probes": [SOUND], "clean": [80.0], "unlimited": [10.0], "graph_free": [60.0], "trivial": 30.0}
    common |= {"balanced": [80.0], "shuffled": [30.0], "num_classes": 3}
    assert check_all(found, tested=1000, **common)[1].passed is False
    assert check_all(found, tested=50, **common)[1].passed is True


@pytest.mark.parametrize("threat", ["poisoning", "inductive"])
@pytest.mark.parametrize(("left", "passed"), [(60.0, True), (90.0, False)])
def test_unlimited_leaves_features_covers_every_threat(threat, left, passed):
    check = checks.unlimited_leaves_features([10.0], [60.0], 30.0, arriving=100, **{threat: [left]})
    assert check.passed is passed
    assert f"{threat} {left}" in check.detail


def test_unlimited_leaves_features_does_not_judge_evasion_of_a_model_that_reads_no_edges():
    assert checks.unlimited_leaves_features([80.0], [60.0], 30.0, reads="memory").passed is None
    judged = checks.unlimited_leaves_features([80.0], [60.0], 30.0, reads="memory", poisoning=[30.0])
    assert judged.passed is True
    assert "evasion: robust by memory" in judged.detail


def test_adaptive_is_not_weaker_leaves_searches_without_a_gradient_out():
    transfer = make_finding("transfer", evasion=45.0, kind="transfer")
    search = make_finding("EvA", evasion=20.0, loss=None)
    assert checks.adaptive_is_not_weaker([make_finding(), search, transfer], slack=1.0).passed is False
