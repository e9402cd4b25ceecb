"""Break it yourself before others do.

fit -> attacks over a range of budgets -> the strongest figure -> checks that expose a broken evaluation
"""

from gadc.audit.battery import BATTERY, FAST_BATTERY, Entry
from gadc.audit.checks import Check, check_all
from gadc.audit.findings import Finding, Strongest, strongest
from gadc.audit.gradient import GradientProbe, probe_gradient
from gadc.audit.result import AuditResult
from gadc.audit.run import RATES, Fit, audit, count_stages, fit_of

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
