"""Findings on disk."""

from dataclasses import replace

import pytest

from gadc.robustness.auditing import FindingStore
from tests.helpers.audit_models import EVASION, make_finding


def test_store_returns_findings_of_the_same_attack_only(tmp_path):
    path, finding = tmp_path / "audit.jsonl", make_finding(rate=0.1, evasion=41.5)
    FindingStore(path, {"model": "a"}).add(EVASION[3], "transductive", finding)
    store = FindingStore(path, {"model": "a"})
    assert len(store) == 1
    assert store.get(EVASION[3], "transductive", 0.1, 0) == finding
    assert store.get(EVASION[3], "inductive", 0.1, 0) is None
    assert store.get(EVASION[3], "transductive", 0.2, 0) is None
    assert store.get(replace(EVASION[3], settings={"num_steps": 9}), "transductive", 0.1, 0) is None


def test_store_ignores_a_line_that_was_cut_short(tmp_path):
    path = tmp_path / "audit.jsonl"
    store = FindingStore(path, {"model": "a"})
    store.add(EVASION[0], "transductive", make_finding())
    path.write_text(path.read_text() + '{"key": "half')
    store = FindingStore(path, {"model": "a"})
    assert len(store) == 1
    store.add(EVASION[1], "transductive", make_finding())
    assert len(FindingStore(path, {"model": "a"})) == 2


def test_store_refuses_findings_of_another_audit(tmp_path):
    path = tmp_path / "audit.jsonl"
    FindingStore(path, {"model": "a"})
    with pytest.raises(ValueError, match=r"audit.jsonl must belong to this audit"):
        FindingStore(path, {"model": "b"})
