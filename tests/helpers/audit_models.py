"""Defenders to audit: an honest one, and ones whose figures are not to be believed."""

import torch

from gadc.datasets import csbm
from gadc.models import make_model
from gadc.robustness import AuditAttack

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
EVASION = tuple(entry for entry in QUICK if entry.kind != "poisoning")


def graph(*, num_nodes=120, signal=1.0):
    """Two classes that neighbours tell apart better than features do."""
    return csbm(num_nodes=num_nodes, signal=signal, homophily=0.9, seed=0)


def honest(data, seed):
    """A linear GCN, trained for a moment."""
    return make_model("s2gc", epochs=50).fit(data, seed=seed).scores


def _behind(change):
    def fit(data, seed):
        scores = honest(data, seed)
        return lambda x, edge_index, edge_weight=None: change(scores(x, edge_index, edge_weight))

    return fit


def detached(data, seed):
    """The graph without its gradient: what happens to edges under `torch.no_grad()`."""
    scores = honest(data, seed)

    def masked(x, edge_index, edge_weight=None):
        return scores(x, edge_index, None if edge_weight is None else edge_weight.detach())

    return masked


rounded = _behind(lambda scores: torch.round(20 * scores))
saturated = _behind(lambda scores: (1e4 * scores).softmax(1))


def remembering(data, seed):
    """Scores of the graph of the training, whatever graph is given."""
    scores = honest(data, seed)
    edges = data.edge_index.clone()
    return lambda x, edge_index, edge_weight=None: scores(x, edges, None)


def graph_free(data, seed):
    return make_model("mlp", epochs=50, hidden=16).fit(data, seed=seed).scores
