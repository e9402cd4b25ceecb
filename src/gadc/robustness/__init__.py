"""Robustness of node classifiers: attacks on graphs, audits of models, suspicious edges.

- `audit`, `AuditResult`, `AuditAttack`, `AUDIT_ATTACKS`, `FAST_AUDIT_ATTACKS`: attack a model over a range of
  budgets and check that the figures are credible; more in `gadc.robustness.auditing`.
- `rank_new_edges`: proposed edges, ranked against the graph that they want to join.
- `suspicious_edges`, `edge_effects`: the edges of a graph that should not be trusted, and what removing them
  does to predictions; more in `gadc.robustness.edges`.
- `certify`, `Certificate`: what no attacker can change; more in `gadc.robustness.certificates`.
- `make_attack`, `ATTACKS`, `EdgeAttack`, `register_attack`, `Rules`, `Flips`, `FeatureAttack`, `Injection`:
  attacks on edges, features and nodes; more in `gadc.robustness.attacks`.
- `trust_frontier`, `TrustFrontier`: clean and attacked accuracy of a robust model over its trust in edges.
- `save_perturbation`, `load_perturbation`, `make_manifest`: attacks on disk.
"""

from gadc.robustness._trust import TrustFrontier, trust_frontier
from gadc.robustness.attacks import (
    ATTACKS,
    EdgeAttack,
    FeatureAttack,
    Flips,
    Injection,
    Rules,
    load_perturbation,
    make_attack,
    make_manifest,
    register_attack,
    save_perturbation,
)
from gadc.robustness.auditing import AUDIT_ATTACKS, FAST_AUDIT_ATTACKS, AuditAttack, AuditResult, audit
from gadc.robustness.certificates import Certificate, certify
from gadc.robustness.edges import edge_effects, rank_new_edges, suspicious_edges

__all__ = [
    "ATTACKS",
    "AUDIT_ATTACKS",
    "FAST_AUDIT_ATTACKS",
    "AuditAttack",
    "AuditResult",
    "Certificate",
    "EdgeAttack",
    "FeatureAttack",
    "Flips",
    "Injection",
    "Rules",
    "TrustFrontier",
    "audit",
    "certify",
    "edge_effects",
    "load_perturbation",
    "make_attack",
    "make_manifest",
    "rank_new_edges",
    "register_attack",
    "save_perturbation",
    "suspicious_edges",
    "trust_frontier",
]
