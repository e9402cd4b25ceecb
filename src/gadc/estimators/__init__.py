"""GADC for scikit-learn: a transformer, a transductive classifier, and cross-validation over nodes."""

from gadc.estimators.classifier import GADCClassifier
from gadc.estimators.nodes import NodeClassifier
from gadc.estimators.transformer import GADCTransformer

__all__ = ["GADCClassifier", "GADCTransformer", "NodeClassifier"]
