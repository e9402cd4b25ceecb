"""scikit-learn's own checks of its estimators."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from gadc.estimators import GADCClassifier, GADCTransformer
from tests.helpers.estimators import FEW_EPOCHS, QUICK


def _expected_failures(estimator):
    if not isinstance(estimator, GADCClassifier):
        return {}
    return {
        "check_classifiers_classes": "uses the label -1, which means unlabelled here as in LabelPropagation",
        "check_methods_subset_invariance": "asks for 1e-7, but the head works in single precision",
    }


@parametrize_with_checks(
    [
        GADCTransformer(),
        GADCTransformer(variant="IV", normalize="l2"),
        GADCClassifier(**FEW_EPOCHS),
        GADCClassifier(**QUICK),
        GADCClassifier(head="mlp", hidden=16, normalize="l2", **QUICK),
    ],
    expected_failed_checks=_expected_failures,
)
def test_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)
