"""Audits on small graphs: an honest model passes, and broken evaluations are exposed."""

import json
from dataclasses import replace

import pytest
import torch

from gadc.models import make_model
from gadc.robustness import AuditAttack, audit
from gadc.robustness.auditing import FindingStore, count_stages
from tests.helpers import audit_models as models

GRADIENT, BUDGET, ADAPTIVE, UNLIMITED, LOSSES, KEPT, LARGEST, SHUFFLED = range(8)


def audit_small(fit, **changes):
    asked = {"attacks": models.EVASION, "rates": (0.1, 0.2), "poisoning": False, "inductive": False} | changes
    return audit(fit, models.graph(), **asked)


def verdicts(result):
    return [check.passed for check in result.checks]


@pytest.fixture(scope="module")
def honest():
    return audit_small(models.honest, attacks=models.QUICK, poisoning=True)


def test_audit_of_an_honest_model_passes(honest):
    assert verdicts(honest) == [True] * 8
    assert honest.passed
    assert not honest.notes
    assert [one.rate for one in honest.strongest] == [0.1, 0.2]
    assert honest.strongest[1].accuracy < honest.clean[0] - 10


def test_audit_reports_evasion_and_poisoning_apart(honest):
    by_attack = {one.attack: one for one in honest.findings}
    assert by_attack["Metattack"].evasion is None
    assert by_attack["PGD"].evasion is not None
    assert by_attack["PGD"].poisoning is not None
    assert by_attack["PGD"].accuracy == min(by_attack["PGD"].evasion, by_attack["PGD"].poisoning)
    assert by_attack["random"].loss is None
    assert all(one.flips <= one.budget for one in honest.findings)


def test_audit_repeats_with_its_seed():
    asked = {"attacks": models.QUICK[1:4], "rates": (0.1,), "poisoning": True, "seeds": (3,)}
    first, again = (audit_small(models.honest, **asked) for _ in range(2))
    timeless = [tuple(replace(one, seconds=0.0) for one in result.findings) for result in (first, again)]
    assert timeless[0] == timeless[1]
    assert first.checks == again.checks


def test_audit_strongest_attack_leaves_the_lowest_accuracy(honest):
    for one in honest.strongest:
        assert one.accuracy == min(f.accuracy for f in honest.findings if f.rate == one.rate)


@pytest.mark.parametrize("fit", [models.rounded, models.saturated])
def test_audit_exposes_masked_gradients(fit):
    found = verdicts(audit_small(fit))
    assert [found[GRADIENT], found[ADAPTIVE], found[UNLIMITED]] == [False, False, False]


def test_audit_exposes_detached_gradients():
    result = audit_small(models.detached)
    assert verdicts(result)[GRADIENT] is False
    assert verdicts(result)[ADAPTIVE] is None
    assert not result.passed
    assert set(result.failed) == {"PGD", "FGA", "one gradient with an unlimited budget"}
    assert "no gradient" in result.failed["PGD"]


def test_audit_marks_scores_that_ignore_the_given_graph_as_robust_by_memory():
    result = audit_small(models.remembering, attacks=models.EVASION[:2], poisoning=True)
    found = verdicts(result)
    assert result.reads == "memory"
    assert found[GRADIENT] is None
    assert "robust by memory" in result.checks[UNLIMITED].detail
    assert {one.evasion for one in result.findings} == set(result.clean)
    assert result.unlimited_poisoning[0] < result.clean[0]


def test_audit_attacks_arriving_nodes_and_the_training():
    stand_in = AuditAttack(
        name="stand-in", kind="stand-in", attack="poison-pgd", settings={"num_steps": 20, "num_samples": 3}
    )
    own = replace(stand_in, name="own", kind="training")
    model = make_model("s2gc", epochs=50)
    told = []
    asked = {"attacks": (models.EVASION[3], stand_in, own), "poisoning": True, "inductive": True}
    result = audit_small(model, progress=told.append, **asked)
    threats = result.by_threat
    assert set(threats) == {"evasion", "inductive", "poisoning"}
    assert result.reads == "edges"
    assert threats["poisoning"][1].attack in ("stand-in", "own")
    assert threats["poisoning"][1].accuracy < result.clean[0] - 10
    arrived = [one for one in result.findings if one.inductive is not None]
    assert {one.attack for one in arrived} == {"PGD"}
    assert all(one.valid and one.flips <= one.budget and one.evasion is None for one in arrived)
    assert result.arriving == 12
    assert len(result.clean_inductive) == len(result.unlimited_inductive) == 1
    assert len(told) == count_stages((0.1, 0.2), asked["attacks"], (0,))
    assert json.loads(json.dumps(result.to_dict()))["by_threat"]["inductive"][0]["attack"] == "PGD"


def test_audit_notes_that_a_hook_has_no_training_to_differentiate():
    own = AuditAttack(name="own", kind="training", attack="poison-pgd", settings={"num_steps": 2})
    result = audit_small(models.honest, attacks=(own,), poisoning=True)
    assert result.skipped["own"] == "the model has no training that can be differentiated"


def test_audit_resumes_from_stored_findings(tmp_path):
    path = tmp_path / "audit.jsonl"
    asked = {"attacks": models.QUICK[1:4:2], "rates": (0.1,), "poisoning": True, "inductive": True}
    trainings = []

    def counted(data, seed):
        trainings.append(seed)
        return models.honest(data, seed)

    first = audit_small(counted, store=FindingStore(path, {"model": "honest"}), **asked)
    num_first = len(trainings)
    again = audit_small(counted, store=FindingStore(path, {"model": "honest"}), **asked)
    assert again.findings == first.findings
    assert len(trainings) - num_first == num_first - len(asked["attacks"])


def test_audit_passes_a_model_that_uses_no_graph():
    result = audit_small(models.graph_free, poisoning=True)
    assert result.passed
    found = verdicts(result)
    assert [found[GRADIENT], found[ADAPTIVE], found[LOSSES]] == [None, None, None]
    assert {one.accuracy for one in result.findings} == set(result.clean)


def test_audit_skips_adaptive_attacks_on_scores_that_no_edge_moves():
    result = audit_small(models.graph_free, attacks=models.EVASION, inductive=True)
    assert {one.attack for one in result.findings} == {"random", "DICE", "transfer"}
    for name in ("PGD", "FGA", "PGD, arriving nodes", "FGA, arriving nodes"):
        assert result.skipped[name] == "no edge moves the scores of the trained model"


def test_audit_runs_rates_in_order_and_once():
    result = audit_small(models.graph_free, attacks=models.EVASION[:1], rates=(0.2, 0.1, 0.2))
    assert [one.rate for one in result.findings] == [0.1, 0.2]


@pytest.mark.parametrize("name", ["ridge", "robust-ridge", "student"])
def test_unlimited_budget_is_spent_on_every_threat(name):
    few = {"neighbors": 5} | ({"penalty": 0.3} if name == "ridge" else {})
    attacks = (models.EVASION[1], models.EVASION[3])
    result = audit_small(make_model(name, **few), attacks=attacks, poisoning=True, inductive=True)
    most = max(result.graph_free[0], result.trivial) + 5
    assert len(result.unlimited) == len(result.unlimited_inductive) == len(result.unlimited_poisoning) == 1
    assert result.reads == ("memory" if name == "student" else "edges")
    assert (result.unlimited[0] > most) == (name == "student")
    check = result.checks[UNLIMITED]
    assert check.passed
    assert ("robust by memory" in check.detail) == (name == "student")
    for threat in ("inductive", "poisoning"):
        assert threat in check.detail


def test_poison_eva_attacks_the_training_of_a_hook():
    eva = AuditAttack(
        name="EvA", kind="training", attack="poison-eva", settings={"num_generations": 3, "population": 4}
    )
    trained = []

    def nearest(data, seed):
        """Train a model without a gradient."""
        trained.append(data.edge_index.shape[1])
        known = data.x.index_add(0, data.edge_index[0], data.x[data.edge_index[1]])[data.train_mask]
        centres = torch.stack([known[data.y[data.train_mask] == one].mean(0) for one in (0, 1)])

        def scores(x, edge_index, edge_weight=None):
            return -torch.cdist(x.index_add(0, edge_index[0], x[edge_index[1]]), centres).detach()

        return scores

    result = audit_small(nearest, attacks=(eva,), rates=(0.2,), poisoning=True)
    [found] = result.findings
    assert found.evasion is None
    assert found.poisoning < result.clean[0]
    assert found.valid
    assert len(trained) > 4 + 3 * 2


def test_audit_runs_several_seeds_and_splits():
    graphs = {seed: models.graph(num_nodes=60 + 20 * seed) for seed in (0, 1)}
    told = []
    asked = {"attacks": models.EVASION[:1], "rates": (0.1,), "seeds": (0, 1)}
    result = audit(models.graph_free, graphs.__getitem__, progress=told.append, **asked)
    assert len(result.clean) == len(result.graph_free) == len(result.unlimited) == 2
    assert {one.seed for one in result.findings} == {0, 1}
    assert result.tested == 12
    assert {one.inductive is None for one in result.findings} == {True, False}
    assert len(told) == count_stages(asked["rates"], asked["attacks"], asked["seeds"])


def test_audit_leaves_out_attacks_on_too_large_graphs():
    entry = replace(models.EVASION[0], max_nodes=50)
    result = audit_small(models.graph_free, attacks=(entry,))
    assert not result.findings
    assert "50 nodes" in result.skipped["random"]
    assert verdicts(result)[KEPT] is None


def test_audit_refuses_bad_input():
    with pytest.raises(ValueError, match="each of rates must be finite and > 0, got 0"):
        audit_small(models.graph_free, rates=(0.0,))
    data = models.graph(num_nodes=30)
    data.test_mask = torch.zeros_like(data.test_mask)
    with pytest.raises(ValueError, match="test_mask must name at least one node"):
        audit(models.graph_free, data)


def test_audit_takes_a_model_and_leaves_poisoning_attacks_out():
    model = make_model("mlp", epochs=5, hidden=8)
    told = []
    result = audit_small(model, attacks=models.QUICK[-1:], progress=told.append)
    assert not result.findings
    assert len(told) == count_stages((0.1, 0.2), models.QUICK[-1:], (0,), poisoning=False, inductive=False)


def ignoring_weights(data, seed):
    """Train a model that uses the list of edges but not their weights, as a SAGEConv does."""
    scores = models.honest(data, seed)
    return lambda x, edge_index, edge_weight=None: scores(x, edge_index, None)


def test_audit_names_attacks_that_fail_and_keeps_the_rest():
    prbcd = AuditAttack(name="PRBCD", kind="adaptive", attack="prbcd", settings={"num_steps": 2})
    result = audit_small(ignoring_weights, attacks=(prbcd, models.EVASION[1]))
    assert "scores must pass a gradient to edge_weight" in result.failed["PRBCD"]
    assert {one.attack for one in result.findings} == {"DICE"}
    assert verdicts(result)[GRADIENT] is False
    assert any(note.startswith("PRBCD failed: ") for note in result.notes)


def test_audit_keeps_finished_attacks_if_the_model_breaks_later():
    data = models.graph()

    def breaking(data, seed):
        scores = models.honest(data, seed)

        def limited(x, edge_index, edge_weight=None):
            if edge_index.shape[1] > 2 * data.edge_index.shape[1]:
                raise RuntimeError(
                    "DefaultCPUAllocator: can't allocate memory:\n you tried to allocate 35 GB"
                )
            return scores(x, edge_index, edge_weight)

        return limited

    asked = {"rates": (0.1,), "poisoning": False, "inductive": False}
    result = audit(breaking, data, attacks=models.EVASION[:2], **asked)
    assert {one.attack for one in result.findings} == {"random", "DICE"}
    assert result.unlimited == ()
    assert "RuntimeError: DefaultCPUAllocator" in result.failed["DICE with an unlimited budget"]
    assert verdicts(result)[UNLIMITED] is None
    json.dumps(result.to_dict(), allow_nan=False)


def test_audit_skips_attacks_that_do_not_fit_into_memory(monkeypatch):
    monkeypatch.setenv("GADC_MAX_MEMORY", "1MB")
    data = models.graph(num_nodes=160)  # more pairs than the forecast ignores
    result = audit(
        models.honest, data, attacks=models.QUICK[1:4], rates=(0.1,), poisoning=False, inductive=False
    )
    assert set(result.skipped) >= {"transfer", "PGD"}
    assert "1.0 MB are available" in result.skipped["PGD"]
    assert {one.attack for one in result.findings} == {"DICE"}


def test_audit_tests_labelled_nodes_only():
    data = models.graph()
    data.y[torch.nonzero(data.test_mask).flatten()[:5]] = -1
    result = audit(
        models.honest, data, attacks=models.EVASION[:2], rates=(0.1,), poisoning=False, inductive=False
    )
    assert result.tested == int(data.test_mask.sum()) - 5
    assert not result.notes


def imbalanced():
    """Make a graph with one test node in eight outside the largest class."""
    data = models.graph()
    nodes = torch.nonzero(data.y == 1).flatten()
    data.y[nodes[nodes % 4 > 0]] = 0
    return data


def largest_class(data, seed):
    """Train nothing and answer with the largest class."""
    answer = torch.bincount(data.y[data.train_mask]).argmax()

    def scores(x, edge_index, edge_weight=None):
        return torch.zeros(len(x), 2).index_fill_(1, answer, 1.0)

    return scores


def test_audit_exposes_a_model_that_answers_with_the_largest_class():
    result = audit(
        largest_class,
        imbalanced(),
        attacks=models.EVASION[:2],
        rates=(0.1,),
        poisoning=False,
        inductive=False,
    )
    found = verdicts(result)
    assert [found[LARGEST], found[SHUFFLED]] == [False, False]
    assert result.clean[0] == pytest.approx(result.trivial)
    assert result.balanced == (50.0,)
    assert [one.balanced for one in result.findings] == [50.0, 50.0]


def test_audit_reports_balanced_accuracy_if_asked_to():
    asked = {"attacks": models.EVASION[:1], "rates": (0.1,), "poisoning": False, "inductive": False}
    result = audit(largest_class, imbalanced(), metric="balanced-accuracy", **asked)
    assert result.clean == result.balanced == (50.0,)
    assert result.trivial == 50.0
    assert result.findings[0].evasion == 50.0
    with pytest.raises(
        ValueError, match="audit: metric must be one of 'accuracy', 'balanced-accuracy', got 'f1'"
    ):
        audit_small(largest_class, metric="f1")
