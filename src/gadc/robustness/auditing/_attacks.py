"""The attacks of an audit, from attacks without knowledge to adaptive ones. The strongest of them counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gadc._base.scalars import check_choice
from gadc.robustness.attacks import EdgeAttack, make_attack

KINDS = ("blind", "transfer", "adaptive", "poisoning", "training", "stand-in")
TRAINING_KINDS = ("poisoning", "training", "stand-in")  # only the accuracy after retraining counts


@dataclass(frozen=True, kw_only=True)
class AuditAttack:
    """One attack of an audit.

    Args:
        name: Name of the attack in the report.
        kind: "blind" uses no scores, "transfer" the scores of a GCN, "adaptive" the scores of the audited
            model. The other kinds attack the training, so only the accuracy after retraining counts:
            "poisoning" by a surrogate of its own, "training" through the training of the audited model (or
            by training it again and again, if the attack needs no gradient), and "stand-in" through ridge
            regression, see `gadc.robustness.attacks.training_scores`.
        attack: Name of the attack in `gadc.robustness.ATTACKS`.
        settings: Settings of the attack; its defaults if left out.
        max_nodes: The attack is left out on graphs with more nodes; None (the default) has no limit.

    Examples:
        >>> attack = AuditAttack(name="PGD", kind="adaptive", attack="pgd", settings={"num_steps": 50})
        >>> attack.make().num_steps
        50
    """

    name: str
    kind: str
    attack: str
    settings: dict[str, Any] = field(default_factory=dict)
    max_nodes: int | None = None

    def __post_init__(self) -> None:
        check_choice("AuditAttack", self.kind, "kind", KINDS)
        self.make()

    def make(self) -> EdgeAttack:
        """Build the attack itself."""
        return make_attack(self.attack, **self.settings)

    @property
    def needs_gradient(self) -> bool:
        """Whether the attacked scores must pass a gradient to the edges."""
        return self.make().needs_gradient

    @property
    def attacks_training(self) -> bool:
        """Whether the attack is judged by a model that is trained on the attacked graph only."""
        return self.kind in TRAINING_KINDS


def _pgd(name: str, kind: str, loss: str, num_steps: int) -> AuditAttack:
    # Larger blocks of candidate pairs cost time and do not make the attack stronger.
    settings = {"loss": loss, "num_steps": num_steps, "num_samples": 20, "block_size": 250_000}
    return AuditAttack(name=name, kind=kind, attack="pgd", settings=settings, max_nodes=20_000)


def _prbcd(loss: str, num_steps: int) -> AuditAttack:
    settings = {"loss": loss, "num_steps": num_steps, "block_size": 50_000}
    words = loss.replace("-", " ")
    return AuditAttack(name=f"PRBCD, {words}", kind="adaptive", attack="prbcd", settings=settings)


def _poison(name: str, kind: str, attack: str, **settings: Any) -> AuditAttack:
    return AuditAttack(name=name, kind=kind, attack=attack, settings=settings, max_nodes=20_000)


_BLIND = (
    AuditAttack(name="random", kind="blind", attack="random"),
    AuditAttack(name="DICE", kind="blind", attack="dice"),
)
# Cross-entropy and the bare margin are left out: they waste the budget on nodes that are wrong already.
AUDIT_ATTACKS = (
    *_BLIND,
    _pgd("PGD through a GCN", "transfer", "tanh-margin", 100),
    _pgd("PGD, tanh margin", "adaptive", "tanh-margin", 100),
    _pgd("PGD, probability margin", "adaptive", "probability-margin", 100),
    _prbcd("tanh-margin", 100),
    _prbcd("scaled-margin", 100),
    AuditAttack(name="EvA", kind="adaptive", attack="eva", settings={"num_generations": 60}, max_nodes=5_000),
    _poison("PGD through training", "training", "poison-pgd", num_steps=20, block_size=50_000),
    _poison("PGD through a ridge stand-in", "stand-in", "poison-pgd"),
    _poison("PRBCD through a ridge stand-in", "stand-in", "poison-prbcd"),
    _poison("the stand-in, test labels unknown", "stand-in", "poison-pgd", known_labels="training"),
    AuditAttack(
        name="Metattack",
        kind="poisoning",
        attack="metattack",
        settings={"flips_per_step": 10},
        max_nodes=5_000,
    ),
)
FAST_AUDIT_ATTACKS = (
    *_BLIND,
    _pgd("PGD through a GCN", "transfer", "tanh-margin", 30),
    _pgd("PGD, probability margin", "adaptive", "probability-margin", 30),
    _prbcd("scaled-margin", 40),
    _poison("PGD through a ridge stand-in", "stand-in", "poison-pgd", num_steps=20, block_size=50_000),
)
