"""GADC for scikit-learn: a transformer, a transductive classifier, and cross-validation over nodes."""

from gadc.estimators._classifier import GADCClassifier
from gadc.estimators._nodes import NodeClassifier
from gadc.estimators._transformer import GADCTransformer

__all__ = ["GADCClassifier", "GADCTransformer", "NodeClassifier"]
