"""Audit of a model: find its weak spots before others do.

    train -> attack over a range of budgets -> strongest attack -> checks that the figures are credible

- `audit`: the whole of it; returns an `AuditResult`.
- `AuditAttack`, `AUDIT_ATTACKS`, `FAST_AUDIT_ATTACKS`: which attacks are run.
- `Finding`, `StrongestAttack`, `strongest_attacks`: what each attack did, and the attack that counts.
- `Check`, `check_all`: checks that expose a broken evaluation.
- `GradientProbe`, `probe_gradient`: whether the gradient that attacks follow is the true one.
- `Protocol`, `transductive`, `inductive`: what is trained on, and what is attacked afterwards.
- `FindingStore`: findings on disk, so that an interrupted audit resumes.
- `fit_of`, `ModelFit`, `Fit`, `THREATS`, `RATES`, `count_stages`: what the command line needs besides.
"""

from gadc.robustness.auditing._attacks import AUDIT_ATTACKS, FAST_AUDIT_ATTACKS, AuditAttack
from gadc.robustness.auditing._audit import RATES, ModelFit, audit, count_stages, fit_of
from gadc.robustness.auditing._checks import Check, check_all
from gadc.robustness.auditing._defender import Fit
from gadc.robustness.auditing._findings import THREATS, Finding, StrongestAttack, strongest_attacks
from gadc.robustness.auditing._gradient_probe import GradientProbe, probe_gradient
from gadc.robustness.auditing._protocols import Protocol, inductive, transductive
from gadc.robustness.auditing._result import AuditResult
from gadc.robustness.auditing._store import FindingStore

__all__ = [
    "AUDIT_ATTACKS",
    "FAST_AUDIT_ATTACKS",
    "RATES",
    "THREATS",
    "AuditAttack",
    "AuditResult",
    "Check",
    "Finding",
    "FindingStore",
    "Fit",
    "GradientProbe",
    "ModelFit",
    "Protocol",
    "StrongestAttack",
    "audit",
    "check_all",
    "count_stages",
    "fit_of",
    "inductive",
    "probe_gradient",
    "strongest_attacks",
    "transductive",
]
