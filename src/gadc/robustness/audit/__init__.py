"""Break it yourself before others do.

fit -> attacks over a range of budgets -> the strongest figure -> checks that expose a broken evaluation
"""

from gadc.robustness.audit._battery import BATTERY, FAST_BATTERY, Entry
from gadc.robustness.audit._checks import Check, check_all
from gadc.robustness.audit._findings import Finding, Strongest, strongest
from gadc.robustness.audit._gradient import GradientProbe, probe_gradient
from gadc.robustness.audit._result import AuditResult
from gadc.robustness.audit._run import RATES, Fit, audit, count_stages, fit_of

__all__ = [
    "BATTERY",
    "FAST_BATTERY",
    "RATES",
    "AuditResult",
    "Check",
    "Entry",
    "Finding",
    "Fit",
    "GradientProbe",
    "Strongest",
    "audit",
    "check_all",
    "count_stages",
    "fit_of",
    "probe_gradient",
    "strongest",
]
