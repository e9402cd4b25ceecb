"""The strongest attack of each rate."""

from gadc.robustness.auditing import strongest_attacks
from tests.helpers.audit_models import make_finding


def test_strongest_attacks_average_each_attack_over_seeds():
    found = [
        make_finding("A", evasion=10.0),
        make_finding("A", evasion=70.0, seed=1),
        make_finding("B", evasion=35.0),
        make_finding("B", evasion=35.0, seed=1),
        make_finding("C", rate=0.05, evasion=None, poisoning=66.0),
    ]
    assert [(one.rate, one.attack, one.accuracy) for one in strongest_attacks(found)] == [
        (0.05, "C", 66.0),
        (0.1, "B", 35.0),
    ]
