"""scikit-learn's own checks of its estimators."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from gadc.estimators import GADCClassifier, GADCRegressor, GADCTransformer
from tests.helpers.estimators import FEW_EPOCHS, QUICK


def _expected_failures(estimator):
    if isinstance(estimator, GADCRegressor):
        every = "the columns of S X are standardised over all rows, whatever their weights"
        return {f"check_sample_weight_equivalence_on_{kind}_data": every for kind in ("dense", "sparse")}
    if not isinstance(estimator, GADCClassifier):
        return {}
    drawn = "a random part of the rows is held out, and all rows are features"
    return {
        **{f"check_sample_weight_equivalence_on_{kind}_data": drawn for kind in ("dense", "sparse")},
        "check_classifiers_classes": "uses the label -1, which means unlabelled here as in LabelPropagation",
        "check_methods_subset_invariance": "asks for 1e-7, but the head works in single precision",
    }


@parametrize_with_checks(
    [
        GADCTransformer(),
        GADCTransformer(variant="IV", normalize="l2"),
        GADCClassifier(**FEW_EPOCHS),
        GADCClassifier(**QUICK),
        GADCRegressor(random_state=0),
        GADCRegressor(head="mlp", hidden=16, variant="plain", lr=0.05, epochs=50, cv=2, random_state=0),
        GADCClassifier(head="mlp", hidden=16, normalize="l2", **QUICK),
    ],
    expected_failed_checks=_expected_failures,
)
def test_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)
