"""`gadc audit`, run as a user runs it."""

import json
import re

import pytest

from gadc.robustness import AuditAttack

pytest.importorskip("matplotlib")

HOOKS = """
import torch
from gadc.models import make_model


class Net(torch.nn.Module):
    def __init__(self, scores):
        super().__init__()
        self.scores = scores

    def forward(self, x, edge_index, edge_weight=None):
        return self.scores(x, edge_index, edge_weight)


def fit(data, seed):
    return Net(make_model("s2gc", epochs=20).fit(data, seed=seed).scores)


def masked(data, seed):
    scores = fit(data, seed)
    return lambda *graph: torch.round(20 * scores(*graph))


def shapeless(data, seed):
    return lambda x, edge_index, edge_weight: x[:3]


def nothing(data, seed):
    return None


constant = 3
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Replace the attacks by a few short ones."""
    pgd = {"num_steps": 10, "num_samples": 3}
    attacks = (
        AuditAttack(name="DICE", kind="blind", attack="dice"),
        AuditAttack(name="PGD", kind="adaptive", attack="pgd", settings=pgd),
        AuditAttack(name="PGD, margin", kind="adaptive", attack="pgd", settings={**pgd, "loss": "margin"}),
    )
    poisoning = AuditAttack(
        name="Metattack", kind="poisoning", attack="metattack", settings={"flips_per_step": 9}
    )
    monkeypatch.setattr("gadc.robustness.auditing.FAST_AUDIT_ATTACKS", attacks)
    monkeypatch.setattr("gadc.robustness.auditing.AUDIT_ATTACKS", (*attacks, poisoning))


@pytest.fixture
def known(folder):
    """Write a node table in which every trade is known, so that there are test nodes."""
    people = (folder / "people.csv").read_text().splitlines()
    trades = [line.split(",")[1] for line in (folder / "truth.csv").read_text().splitlines()]
    lines = [",".join([*line.split(",")[:4], trade]) for line, trade in zip(people, trades, strict=True)]
    (folder / "known.csv").write_text("\n".join(lines) + "\n")
    return ("--edges", folder / "friends.csv", "--nodes", folder / "known.csv", "--label", "trade")


@pytest.fixture
def hooks(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(HOOKS)
    return path


def test_audit_prints_figures_and_writes_a_report(run, known, folder):
    report = folder / "audit.html"
    options = ("--model", "adaptive/gadc-iv", "--setting", "epochs=20", "--rates", "0.2,0.1", "--seeds", "2")
    code, out, err = run("audit", *known, *options, "--json", "--report", report)
    found = json.loads(out)
    assert code == (0 if found["passed"] else 1)
    assert found["seeds"] == [0, 1]
    assert found["tested"] == 16
    assert len(found["findings"]) == 2 * 2 * (4 + 3)
    assert set(found["by_threat"]) == {"evasion", "inductive", "poisoning"}
    assert [one["rate"] for one in found["strongest"]] == [0.1, 0.2]
    assert "validation labels" in found["known"]
    assert "Wrote" in err
    page = report.read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    for check in found["checks"]:
        assert check["name"] in page
    for text in (
        "Accuracy against budget",
        "MLP without the graph",
        "Metattack",
        "--setting",
        "20 % flipped",
    ):
        assert text in page


def test_audit_certifies_the_model_beside_its_attacks(run, known, folder):
    report = folder / "certified.html"
    settings = [
        f"--setting={one}" for one in ("variant=IV+", "lam=2.0", "num_steps=2", "epochs=20", "neighbors=3")
    ]
    options = ("--model", "gadc", *settings, "--rates", "0.1", "--fast", "--no-poisoning", "--no-inductive")
    _, out, _ = run("audit", *known, *options, "--certify", "--json", "--report", report)
    certified = json.loads(out)["certified"]
    assert certified["violations"] == []
    assert [one["budget"] for one in certified["brackets"]] == [1, 2, 3]
    for one in certified["brackets"]:
        assert one["certified"] <= one["attacked"]
    assert "Certified to attacked accuracy" in report.read_text(encoding="utf-8")


def test_audit_does_not_certify_a_hook(run, known, hooks):
    code, _, err = run("audit", *known, "--hook", f"{hooks}:fit", "--certify")
    assert code == 2
    assert "--certify requires a model of gadc" in err


def test_audit_of_a_hook_prints_attacks_and_checks(run, known, hooks):
    code, out, _ = run("audit", *known, "--hook", f"{hooks}:fit", "--rates", "0.2", "--no-poisoning")
    assert code == 0, out
    assert "Metattack" not in out
    assert "strongest attack" in out
    assert "MLP without the graph" in out
    assert re.search(r"DICE +\d+\.\d / –", out)
    assert "FAIL" not in out
    assert out.count(" pass ") == 8
    assert "balanced accuracy" in out
    assert "strongest by evasion, arriving nodes" in out
    assert "strongest by poisoning" not in out


def test_audit_resumes_from_its_findings(run, known, hooks, tmp_path):
    findings = tmp_path / "audit.jsonl"
    options = ("--hook", f"{hooks}:fit", "--rates", "0.2", "--fast", "--no-poisoning", "--no-inductive")
    store = ("--findings", findings, "--json")
    _, first, _ = run("audit", *known, *options, *store)
    code, again, err = run("audit", *known, *options, *store)
    assert json.loads(again) == json.loads(first)
    assert "Resuming from 3 attacks" in err
    code, _, err = run("audit", *known, "--model", "s2gc", *options[2:], *store)
    assert code == 2
    assert "--findings: FindingStore:" in err
    assert "--fresh" in err
    code, _, err = run("audit", *known, *options, *store, "--fresh")
    assert "Resuming" not in err
    assert (tmp_path / "audit.jsonl.old").exists()


def test_audit_does_not_resume_for_another_graph_or_another_hook(run, known, hooks, folder, tmp_path):
    options = ("--rates", "0.2", "--fast", "--no-poisoning", "--no-inductive", "--findings")
    own = ("--hook", f"{hooks}:fit", *options, tmp_path / "audit.jsonl")
    run("audit", *known, *own)
    table = (folder / "known.csv").read_text()
    head, first, *rest = table.splitlines()
    (folder / "known.csv").write_text(
        "\n".join([head, ",".join([*first.split(",")[:1], *rest[0].split(",")[1:]]), *rest])
    )
    code, _, err = run("audit", *known, *own)
    assert (code, "must belong to this audit" in err) == (2, True)
    (folder / "known.csv").write_text(table)
    hooks.write_text(HOOKS + "\n# changed\n")
    code, _, err = run("audit", *known, *own)
    assert (code, "must belong to this audit" in err) == (2, True)


def test_audit_marks_a_model_that_never_reads_an_edge(run, known):
    options = ("--model", "mlp", "--setting", "epochs=20", "--rates", "0.2", "--fast", "--no-poisoning")
    _, out, _ = run("audit", *known, *options, "--no-inductive")
    assert "no edge is ever read" in out


def test_a_failed_check_sets_the_exit_code(run, known, hooks, tmp_path):
    report = tmp_path / "audit.html"
    options = ("--hook", f"{hooks}:masked", "--rates", "0.2", "--fast", "--no-poisoning")
    code, out, _ = run("audit", *known, *options, "--report", report)
    assert code == 1
    assert re.search(r"FAIL +the gradient goes through the defence", out)
    page = report.read_text(encoding="utf-8")
    assert '<span class="gap failed">FAIL</span>' in page
    assert "--rates 0.2 --fast --no-poisoning --report" in page
    assert "Do NOT trust these figures" in page


@pytest.mark.slow
def test_audit_reports_balanced_accuracy_of_standardised_features(run, known):
    options = ("--model", "s2gc", "--setting", "epochs=20", "--rates", "0.2", "--fast", "--no-poisoning")
    _, raw, _ = run("audit", *known, *options, "--json")
    _, out, _ = run("audit", *known, *options, "--json", "--standardize", "--metric", "balanced-accuracy")
    found = json.loads(out)
    assert found["metric"] == "balanced-accuracy"
    assert found["clean"] == found["balanced"]
    assert found["findings"] != json.loads(raw)["findings"]


def test_a_model_without_the_graph_has_no_gradient_to_check(run, known):
    options = ("--model", "mlp", "--setting", "epochs=20", "--rates", "0.2", "--fast", "--no-poisoning")
    _, out, _ = run("audit", *known, *options)
    assert re.search(r"not judged +the gradient goes through the defence", out)
    assert "note: PGD was skipped: no edge moves the scores of the trained model" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "gadc-v"), "--model: the name must be TABLE/ROW or one of gadc"),
        (("--model", "gcn", "--setting", "width=3"), "--setting: "),
        (("--setting", "epochs"), "--setting must have the form key=value"),
        (("--rates", "a"), "--rates must be numbers"),
        (("--rates", "2"), "--rates must be shares"),
        (("--metric", "f1"), "--metric: the metric must be one of 'accuracy', 'balanced-accuracy'"),
        (("--hook", "missing.py:fit"), "--hook must be FILE.py:FUNCTION"),
        (("--hook", "{hooks}:other"), "must have a function 'other'"),
        (("--hook", "{hooks}:constant"), "must have a function 'constant', got 3"),
        (("--hook", "{hooks}:nothing"), "must return a function"),
        (("--hook", "{hooks}:shapeless"), "must be a tensor (80, classes), got (3, 3)"),
        (("--hook", "{hooks}:fit", "--model", "gcn"), "use it without --model and --setting"),
        (("--report", "audit.pdf"), "--report must end in .html"),
        (("--split", "random"), "--split requires a named data set"),
    ],
)
def test_an_invalid_audit_is_refused(run, known, hooks, options, message):
    code, _, err = run("audit", *known, *(option.replace("{hooks}", str(hooks)) for option in options))
    assert code == 2
    assert message in err


def test_audit_requires_a_graph(run):
    code, _, err = run("audit")
    assert code == 2
    assert "either --data NAME" in err
