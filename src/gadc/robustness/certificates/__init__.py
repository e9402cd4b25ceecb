"""Certificates: what no attacker within a threat model can change.

- `Certificate`: what all of them return: a radius per node, the accuracy that is certain at a budget, whether
  the certificate is exact, a sound bound or probabilistic, and what it cost.
- `certify_labels`: wrong training labels, for ridge heads; exact.
- `certify_features`: false features, for diffusions that do not depend on features; exact.
"""

from gadc.robustness.certificates._certificate import Certificate
from gadc.robustness.certificates._features import certify_features
from gadc.robustness.certificates._labels import certify_labels

__all__ = ["Certificate", "certify_features", "certify_labels"]
