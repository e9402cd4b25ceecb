"""Models to audit, honest ones and ones that make the evaluation break, and results of attacks."""

import torch

from gadc.datasets import csbm
from gadc.models import make_model
from gadc.robustness import AuditAttack
from gadc.robustness.auditing import Finding

QUICK = (
    AuditAttack(name="random", kind="blind", attack="random"),
    AuditAttack(name="DICE", kind="blind", attack="dice"),
    AuditAttack(name="transfer", kind="transfer", attack="pgd", settings={"num_steps": 5, "num_samples": 3}),
    AuditAttack(name="PGD", kind="adaptive", attack="pgd", settings={"num_steps": 20, "num_samples": 5}),
    AuditAttack(
        name="FGA",
        kind="adaptive",
        attack="fga",
        settings={"flips_per_step": 10, "loss": "probability-margin"},
    ),
    AuditAttack(name="Metattack", kind="poisoning", attack="metattack", settings={"flips_per_step": 10}),
)
EVASION = tuple(attack for attack in QUICK if attack.kind != "poisoning")


def graph(*, num_nodes=120, signal=1.0):
    """Make a graph whose two classes are easier to tell by neighbors than by features."""
    return csbm(num_nodes=num_nodes, signal=signal, homophily=0.9, seed=0)


def honest(data, seed):
    """Train a linear GCN for a few epochs."""
    return make_model("s2gc", epochs=50).fit(data, seed=seed).scores


def _behind(change):
    def fit(data, seed):
        scores = honest(data, seed)
        return lambda x, edge_index, edge_weight=None: change(scores(x, edge_index, edge_weight))

    return fit


def detached(data, seed):
    """Train a model whose scores pass no gradient to the edges, as under `torch.no_grad()`."""
    scores = honest(data, seed)

    def masked(x, edge_index, edge_weight=None):
        return scores(x, edge_index, None if edge_weight is None else edge_weight.detach())

    return masked


rounded = _behind(lambda scores: torch.round(20 * scores))
saturated = _behind(lambda scores: (1e4 * scores).softmax(1))


def remembering(data, seed):
    """Train a model that returns the scores of the training graph, whatever graph is given."""
    scores = honest(data, seed)
    edges = data.edge_index.clone()
    return lambda x, edge_index, edge_weight=None: scores(x, edges, None)


def graph_free(data, seed):
    """Train an MLP, which uses no edge."""
    return make_model("mlp", epochs=50, hidden=16).fit(data, seed=seed).scores


def make_finding(attack="PGD", rate=0.1, evasion=50.0, **changes):
    """Make the result of an attack, with changes."""
    fields = {
        "attack": attack,
        "kind": "adaptive",
        "loss": "tanh-margin",
        "rate": rate,
        "budget": 10,
        "flips": 10,
        "seed": 0,
        "evasion": evasion,
        "poisoning": None,
        "valid": True,
        "seconds": 0.0,
    }
    return Finding(**(fields | changes))
