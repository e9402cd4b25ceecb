"""Attacks by name: `make_attack("pgd")(scores, data, nodes=..., budget=...)` gives the edges to flip.

An attack knows no model: it differentiates the function of the graph that it is given. `FeatureAttack` and
`Injection` change features and nodes, and give those instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gadc.robustness.attacks._base import Attack, Flips, Rules, Scores
from gadc.robustness.attacks._dice import DICE
from gadc.robustness.attacks._features import FeatureAttack
from gadc.robustness.attacks._fga import FGA
from gadc.robustness.attacks._injection import Injection
from gadc.robustness.attacks._losses import LOSSES, make_loss
from gadc.robustness.attacks._metattack import Metattack
from gadc.robustness.attacks._minmax import MinMax
from gadc.robustness.attacks._nettack import Nettack
from gadc.robustness.attacks._pgd import PGD
from gadc.robustness.attacks._prbcd import GRBCD, PRBCD
from gadc.robustness.attacks._random import RandomFlips
from gadc.robustness.attacks._storage import load_perturbation, make_manifest, save_perturbation

ATTACKS: dict[str, Callable[..., Attack]] = {
    "random": RandomFlips,
    "dice": DICE,
    "fga": FGA,
    "pgd": PGD,
    "min-max": MinMax,
    "prbcd": PRBCD,
    "grbcd": GRBCD,
    "metattack": Metattack,
    "nettack": Nettack,
}


def make_attack(name: str, **settings: Any) -> Attack:
    """The attack of that name with these settings."""
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
    "Attack",
    "FeatureAttack",
    "Flips",
    "Injection",
    "Metattack",
    "MinMax",
    "Nettack",
    "RandomFlips",
    "Rules",
    "Scores",
    "load_perturbation",
    "make_attack",
    "make_loss",
    "make_manifest",
    "save_perturbation",
]
