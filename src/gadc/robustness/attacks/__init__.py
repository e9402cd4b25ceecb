"""Attacks on the edges, features and nodes of a graph.

    flips = make_attack("pgd")(scores, data, nodes=nodes, budget=100)
    attacked = flips.apply(data)

An attack does not know the model: it differentiates a function `(x, edge_index, edge_weight) -> scores`.

- `make_attack`, `ATTACKS`: attacks on edges by name. Each is an `EdgeAttack` and returns `Flips`.
- `register_attack`: an attack of another package; entry points of the group `gadc.attacks` do the same.
- `RandomFlips`, `DICE`: use no scores. `FGA`, `PGD`, `MinMax`, `PRBCD`, `GRBCD`: follow the gradient of the
  scores. `EvA`: evolves flips without a gradient. `Metattack`, `Nettack`: attack a surrogate of their own.
- `PoisonPGD`, `PoisonPRBCD`: follow the gradient through the training, which `training_scores` and
  `stand_in_scores` turn into a function of the graph. `PoisonEvA` needs no gradient:
  `retraining_scores` takes any training.
- `FeatureAttack`, `Injection`: change features, and add nodes, instead of flipping edges.
- `Rules`: what the attacker is allowed to do. `LOSSES`, `make_loss`: what the attacker maximises.
- `save_perturbation`, `load_perturbation`, `make_manifest`: attacks on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gadc._base.plugins import Registry
from gadc.robustness.attacks._base import EdgeAttack, Flips, Rules, Scores
from gadc.robustness.attacks._dice import DICE
from gadc.robustness.attacks._eva import EvA
from gadc.robustness.attacks._features import FeatureAttack
from gadc.robustness.attacks._fga import FGA
from gadc.robustness.attacks._injection import Injection
from gadc.robustness.attacks._losses import LOSSES, make_loss
from gadc.robustness.attacks._metattack import Metattack
from gadc.robustness.attacks._minmax import MinMax
from gadc.robustness.attacks._nettack import Nettack
from gadc.robustness.attacks._pgd import PGD
from gadc.robustness.attacks._poisoning import PoisonEvA, PoisonPGD, PoisonPRBCD
from gadc.robustness.attacks._prbcd import GRBCD, PRBCD
from gadc.robustness.attacks._random import RandomFlips
from gadc.robustness.attacks._stand_in import retraining_scores, stand_in_scores, training_scores
from gadc.robustness.attacks._storage import load_perturbation, make_manifest, save_perturbation

_BUILTIN: dict[str, Callable[..., EdgeAttack]] = {
    "random": RandomFlips,
    "dice": DICE,
    "fga": FGA,
    "pgd": PGD,
    "min-max": MinMax,
    "prbcd": PRBCD,
    "grbcd": GRBCD,
    "eva": EvA,
    "poison-pgd": PoisonPGD,
    "poison-prbcd": PoisonPRBCD,
    "poison-eva": PoisonEvA,
    "metattack": Metattack,
    "nettack": Nettack,
}


def _check_attack(name: str, attack: Any) -> Callable[..., EdgeAttack]:
    if not isinstance(attack, type) or not issubclass(attack, EdgeAttack):
        raise TypeError(
            f"register_attack: attack {name!r} must be a subclass of gadc.robustness.EdgeAttack, "
            f"got {attack!r}."
        )
    return attack


ATTACKS = Registry("gadc.attacks", _BUILTIN, _check_attack)


def register_attack(name: str, attack: type[EdgeAttack]) -> Callable[..., EdgeAttack]:
    """Add an attack that `make_attack`, audits and all commands then know by its name.

    Args:
        name: Name of the attack; not the name of a built-in one. An attack that was registered is replaced.
        attack: A subclass of `EdgeAttack` with a method `find(problem) -> Flips`.

    Examples:
        >>> from gadc.robustness.attacks import ATTACKS, RandomFlips, register_attack
        >>> class Noise(RandomFlips):
        ...     "Random flips under another name."
        >>> register_attack("noise", Noise).__name__
        'Noise'
        >>> del ATTACKS["noise"]
    """
    return ATTACKS.register(name, attack)


def make_attack(name: str, **settings: Any) -> EdgeAttack:
    """Build the attack with this name.

    Args:
        name: A name in `ATTACKS`.
        settings: Settings of the attack; its defaults if left out.

    Examples:
        >>> make_attack("fga", flips_per_step=10).flips_per_step
        10
    """
    if name not in ATTACKS:
        raise ValueError(f"make_attack: name must be one of {', '.join(ATTACKS)}, got {name!r}.")
    return ATTACKS[name](**settings)


__all__ = [
    "ATTACKS",
    "DICE",
    "FGA",
    "GRBCD",
    "LOSSES",
    "PGD",
    "PRBCD",
    "EdgeAttack",
    "EvA",
    "FeatureAttack",
    "Flips",
    "Injection",
    "Metattack",
    "MinMax",
    "Nettack",
    "PoisonEvA",
    "PoisonPGD",
    "PoisonPRBCD",
    "RandomFlips",
    "Rules",
    "Scores",
    "load_perturbation",
    "make_attack",
    "make_loss",
    "make_manifest",
    "register_attack",
    "retraining_scores",
    "save_perturbation",
    "stand_in_scores",
    "training_scores",
]
