"""Certificates: what no attacker within a threat model can change.

- `certify`, `Certified`, `Bracket`: train a model, certify it and attack it within the same threat.
- `Certificate`: what all of them return: a radius per node, the accuracy that is certain at a budget, whether
  the certificate is exact, a sound bound or probabilistic, and what it cost.
- `certify_edges`, `LocalFlips`, `spanning_forest`: flips of edges with a budget per node, for diffusions with
  row-stochastic transitions (`LinearDiffusion`, `linear_diffusion`); exact for converged series.
- `certify_collective`: flips with a budget for the whole graph, which must fool all nodes at once; sound.
- `certify_votes`, `PartVotes`, `Votes`: edges added and removed before training, by votes of hashed parts.
- `certify_labels`: wrong training labels, for ridge heads; exact.
- `certify_features`: false features, for diffusions that do not depend on features; exact.
- `certify_smoothing`, `Smoothing`: edges, for any model, by classifying random variations; probabilistic.
- `PieceStore`, `Pieces`: finished pieces on disk, so that an interrupted certification resumes.
- `train_certified`, `RobustTraining`: train a linear model on worst margins, so that more can be certified.
"""

from gadc.robustness.certificates._certificate import Certificate
from gadc.robustness.certificates._certify import THREATS, Bracket, Certified, certify
from gadc.robustness.certificates._collective import certify_collective
from gadc.robustness.certificates._diffusion import LinearDiffusion, linear_diffusion
from gadc.robustness.certificates._edges import LocalFlips, certify_edges, spanning_forest
from gadc.robustness.certificates._features import certify_features
from gadc.robustness.certificates._labels import certify_labels
from gadc.robustness.certificates._pieces import Pieces, PieceStore
from gadc.robustness.certificates._smoothing import Smoothing, certify_smoothing
from gadc.robustness.certificates._training import RobustTraining, train_certified
from gadc.robustness.certificates._votes import PartVotes, Votes, certify_votes

__all__ = [
    "THREATS",
    "Bracket",
    "Certificate",
    "Certified",
    "LinearDiffusion",
    "LocalFlips",
    "PartVotes",
    "PieceStore",
    "Pieces",
    "RobustTraining",
    "Smoothing",
    "Votes",
    "certify",
    "certify_collective",
    "certify_edges",
    "certify_features",
    "certify_labels",
    "certify_smoothing",
    "certify_votes",
    "linear_diffusion",
    "spanning_forest",
    "train_certified",
]
