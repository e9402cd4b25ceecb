"""The lists of attacks of an audit."""

import pytest

from gadc.robustness import AUDIT_ATTACKS, FAST_AUDIT_ATTACKS, AuditAttack


@pytest.mark.parametrize("attacks", [AUDIT_ATTACKS, FAST_AUDIT_ATTACKS])
def test_audit_attacks_include_every_kind_that_the_checks_compare(attacks):
    kinds = {one.kind for one in attacks}
    assert kinds >= {"blind", "transfer", "adaptive"}
    assert "stand-in" in kinds
    losses = {getattr(one.make(), "loss", None) for one in attacks if one.kind == "adaptive"}
    assert len(losses - {None}) > 1
    assert len({one.name for one in attacks}) == len(attacks)


def test_audit_attack_refuses_an_unknown_kind():
    with pytest.raises(ValueError, match="AuditAttack: kind must be one of"):
        AuditAttack(name="x", kind="other", attack="random")
