"""The result of an audit."""

from dataclasses import replace

from gadc.robustness.auditing import AuditResult, Check
from tests.helpers.audit_models import make_finding


def test_audit_result_fails_if_one_check_fails():
    passing = Check(name="a", passed=True, detail="")
    unjudged = replace(passing, passed=None)
    fields = {"clean": (80.0,), "graph_free": (60.0,), "unlimited": (10.0,), "trivial": 30.0, "tested": 10}
    result = AuditResult(
        findings=(make_finding(),), skipped={}, failed={}, checks=(passing, unjudged), **fields
    )
    assert result.passed
    assert result.to_dict()["strongest"] == [{"rate": 0.1, "attack": "PGD", "accuracy": 50.0}]
    assert not replace(result, checks=(passing, replace(passing, passed=False))).passed
