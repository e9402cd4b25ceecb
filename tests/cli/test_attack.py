"""`gadc attack`, run as a user runs it."""

import json

import pytest

from gadc.cli._options.split_graph import SplitGraphOptions
from gadc.robustness.attacks import Metattack, load_perturbation

QUICK = ("--setting", "epochs=20", "--attack-setting", "num_steps=10", "--attack-setting", "num_samples=3")
META = (
    "--attack",
    "metattack",
    "--budget",
    "6",
    "--setting",
    "epochs=20",
    "--attack-setting",
    "num_steps=10",
)


@pytest.fixture
def out(folder):
    return folder / "attacked.npz"


def test_attack_stores_the_flips_with_a_manifest(run_json, mine, out):
    found = run_json("attack", *mine, "--attack", "pgd", "--rate", "0.1", "-o", out, *QUICK)
    graph = SplitGraphOptions(**dict(zip(("edges", "nodes", "label"), mine[1::2], strict=True)))
    flips, manifest = load_perturbation(out, graph.read_split(0))
    assert manifest == {key: value for key, value in found.items() if key != "out"}
    assert len(flips) == manifest["flips"] == manifest["added"] + manifest["removed"] <= manifest["budget"]
    assert manifest["model"] == "adaptive/gadc-iv"
    assert manifest["settings"] == {"num_steps": 10, "num_samples": 3}
    assert manifest["test_accuracy"]["evasion"] <= manifest["test_accuracy"]["clean"]
    assert set(manifest["test_accuracy"]) == {"clean", "evasion", "poisoning"}


@pytest.mark.parametrize(("mode", "other"), [("add", "removed"), ("remove", "added")])
def test_attack_only_adds_or_only_removes_in_these_modes(run_json, mine, out, mode, other):
    found = run_json(
        "attack", *mine, "--attack", "random", "--budget", "5", "--mode", mode, "-o", out, *QUICK[:2]
    )
    assert found["flips"] == 5
    assert found[other] == 0


def test_attack_prints_accuracies(run, mine, out):
    code, shown, err = run("attack", *mine, "--attack", "dice", "--budget", "5", "-o", out, *QUICK[:2])
    assert code == 0
    assert "evasion accuracy %" in shown
    assert "poisoning accuracy %" in shown
    assert f"Wrote {out}." in err.replace("\n", "")


def test_attack_runs_min_max_and_nettack(run_json, mine, out):
    found = run_json("attack", *mine, "--attack", "min-max", "--budget", "3", "-o", out, *QUICK)
    assert "refit" not in found["settings"]
    found = run_json("attack", *mine, "--attack", "nettack", "--victims", "3,5", "-o", out, *QUICK[:2])
    assert found["budget"] is None
    assert found["flips"] > 0
    assert found["victims"] == "3,5"


def test_metattack_resumes_after_an_interruption(run_json, run, mine, out, monkeypatch):
    whole = run_json("attack", *mine, *META, "-o", out.with_name("whole.npz"))
    partial = out.with_name("attacked.npz.partial.json")
    steps = Metattack.steps

    def interrupted(self, *args, **settings):
        for state in steps(self, *args, **settings):
            yield state
            if state["step"] == 2:
                raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Metattack, "steps", interrupted)
        code, _, err = run("attack", *mine, *META, "-o", out)
    assert code not in (0, None)
    assert "Traceback" not in err
    assert not out.exists()
    assert len(json.loads(partial.read_text())["state"]["flips"]) == 2

    code, _, err = run("attack", *mine, *META, "--seed", "1", "-o", out)
    assert code == 2
    assert "belongs to another attack; start again with --fresh" in err

    code, shown, err = run("attack", *mine, *META, "-o", out, "--json")
    assert code == 0
    assert "Resuming from 2 flips" in err
    assert not partial.exists()
    assert {**json.loads(shown), "out": ""} == {**whole, "out": ""}
    assert load_perturbation(out)[0].pairs.equal(load_perturbation(out.with_name("whole.npz"))[0].pairs)


def test_a_damaged_state_is_refused_unless_fresh(run, mine, out):
    partial = out.with_name("attacked.npz.partial.json")
    partial.write_text("{")
    code, _, err = run("attack", *mine, *META, "-o", out)
    assert code == 2
    assert "is damaged; start again with --fresh" in err
    code, _, err = run("attack", *mine, *META, "-o", out, "--fresh")
    assert code == 0
    assert not partial.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--attack", "other"), "--attack: the name must be one of 'random'"),
        (("--attack", "pgd"), "Give a budget"),
        (("--attack", "pgd", "--rate", "0.1", "--budget", "3"), "either --rate or --budget"),
        (("--attack", "pgd", "--rate", "0"), "--rate must be a share"),
        (("--attack", "nettack", "--rate", "0.1"), "Nettack has a budget per target"),
        (("--attack", "pgd", "--budget", "3", "--victims", "some"), "--victims must be"),
        (("--attack", "pgd", "--budget", "3", "--mode", "move"), "mode must be one of"),
        (("--attack", "pgd", "--budget", "3", "--attack-setting", "hops=2"), "--attack-setting: "),
        (("--attack", "pgd", "--budget", "3", "--out", "attacked.csv"), "--out must end in .npz"),
    ],
)
def test_an_invalid_attack_is_refused(run, mine, out, options, message):
    code, _, err = run("attack", *mine, "-o", out, *options)
    assert code == 2
    assert message in err
    assert not out.exists()
