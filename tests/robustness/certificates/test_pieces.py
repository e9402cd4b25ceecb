"""Finished pieces on disk: an interrupted certification resumes and computes nothing twice."""

import pytest
import torch

from gadc.datasets import csbm
from gadc.models import GADC, make_model
from gadc.robustness.certificates import (
    THREATS,
    PieceStore,
    Smoothing,
    _cases,
    certify,
)


def graph(seed=0):
    return csbm(40, homophily=0.9, mean_degree=5, num_features=6, seed=seed)


class Counted:
    """A progress function that counts steps and stops the work at one of them."""

    def __init__(self, stop=None):
        self.steps, self.stop = [], stop

    def __call__(self, step):
        if len(self.steps) == self.stop:
            raise KeyboardInterrupt
        self.steps.append(step)


def facts(result):
    return {key: value for key, value in result.to_dict().items() if key != "seconds"}


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def interrupted_often(path, data, expected, **settings):
    """Stop at every other step, resume from the same file, and count what is computed twice."""
    whole = Counted()
    assert facts(certify(data, **settings, progress=whole)) == expected
    before = 0
    for stop in [*range(1, len(whole.steps), 2), None]:
        store = PieceStore(path, data)
        assert len(store) >= before
        before = len(store)
        try:
            found = certify(data, **settings, progress=Counted(stop), store=store)
        except KeyboardInterrupt:
            continue
    kept = [line.split('"value"')[0] for line in lines(path)]
    assert len(set(kept)) == len(kept)  # nothing was computed twice
    return found


@pytest.mark.parametrize("threat", THREATS)
def test_an_interrupted_certification_resumes_with_the_same_result(threat, tmp_path):
    data, path = graph(), tmp_path / "pieces.jsonl"
    expected = facts(certify(data, threat, budgets=[1, 2]))
    found = interrupted_often(path, data, expected, threat=threat, budgets=[1, 2])
    assert facts(found) == expected
    size = len(lines(path))
    assert facts(certify(data, threat, budgets=[1, 2], store=PieceStore(path, data))) == expected
    assert len(lines(path)) == size


def test_smoothing_resumes_between_hundreds_of_random_graphs(monkeypatch, tmp_path):
    few = {"num_samples": 230, "num_pilot": 20}
    monkeypatch.setattr(_cases, "Smoothing", lambda **settings: Smoothing(**{**settings, **few}))
    data, path = graph(), tmp_path / "pieces.jsonl"
    settings = {"model": make_model("gcn", epochs=5), "mode": "remove", "budgets": [1], "attack": False}
    expected = facts(certify(data, **settings))
    assert facts(interrupted_often(path, data, expected, **settings)) == expected
    assert len(lines(path)) == 1 + 1 + 3 + 1  # header, pilot, hundreds, features only


def test_finished_pieces_are_not_computed_again(monkeypatch, tmp_path):
    data, path = graph(), tmp_path / "pieces.jsonl"
    expected = facts(certify(data, budgets=[1], store=PieceStore(path, data)))

    def fail(*_, **__):
        raise AssertionError("computed again")

    monkeypatch.setattr("gadc.robustness.certificates._edges.worst_margins", fail)
    monkeypatch.setattr("gadc.robustness.certificates._cases._strong_flips", fail)
    assert facts(certify(data, budgets=[1], store=PieceStore(path, data))) == expected
    with pytest.raises(AssertionError, match="computed again"):
        certify(data, budgets=[1, 2], store=PieceStore(path, data))


@pytest.mark.parametrize(
    "change",
    [
        {"mode": "remove"},
        {"seed": 1},
        {"nodes": torch.arange(9)},
        {"model": GADC(variant="IV+", lam=2.0, num_steps=3)},
        {"threat": "labels"},
    ],
    ids=str,
)
def test_pieces_of_other_settings_are_not_used(change, tmp_path):
    data, path = graph(), tmp_path / "pieces.jsonl"
    certify(data, budgets=[1], store=PieceStore(path, data))
    size = len(lines(path))
    asked = {"budgets": [1], **change}
    shared = certify(data, **asked, store=PieceStore(path, data))
    assert facts(shared) == facts(certify(data, **asked))
    assert len(lines(path)) > size


def test_a_file_of_another_graph_is_refused(tmp_path):
    path = tmp_path / "pieces.jsonl"
    PieceStore(path, graph(0))
    with pytest.raises(
        ValueError, match=r"PieceStore: .*pieces.jsonl must belong to this graph, got another"
    ):
        PieceStore(path, graph(1))
    changed = graph(0)
    changed.x = changed.x.clone()
    changed.x[0, 0] += 1
    with pytest.raises(ValueError, match="got another one"):
        PieceStore(path, changed)
