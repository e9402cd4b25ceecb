"""Heads fitted by scikit-learn on S X, kept as linear layers that a file can hold.

Columns of S X are brought to mean 0 and deviation 1 before the fit, and targets as well, so that one penalty
suits every unit. Both changes are folded into the first and the last layer afterwards: the head reads S X.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import HuberRegressor, Ridge, RidgeCV
from sklearn.neural_network import MLPRegressor

from gadc.models._training.heads import MLP

Values = NDArray[np.float64]
Layers = list[tuple[Values, Values]]  # weights (in, out) and biases (out,) of each layer

ALPHAS = tuple(float(alpha) for alpha in np.logspace(-3, 4, 8))
_MLP_ALPHA = 1.0
_FEW = 3  # with fewer targets, none can be left out to choose the penalty
STOP_EARLY = 100  # targets from which some choose the epoch of an MLP


def standardize_rows(
    owner: str,
    features: NDArray[Any],
    rows: NDArray[np.int64],
    scales: tuple[Values, Values] | None = None,
) -> tuple[Values, Values, Values]:
    """Return some rows of S X with columns of mean 0 and deviation 1, these means and these deviations.

    Args:
        owner: Estimator that an error names.
        features: S X.
        rows: The rows.
        scales: Means and deviations of the columns. Default: the ones of `features`.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused below
        mean, deviation = column_scales(features) if scales is None else scales
        scaled = (features[rows] - mean) / deviation
    if not (np.isfinite(scaled).all() and np.isfinite(deviation).all()):
        raise ValueError(
            f"{owner}: the columns of S X must be finite in double precision; scale the features."
        )
    return scaled, mean, deviation


def root_mean_square(numbers: Values, weight: Values) -> float:
    """Return the weighted root mean square, also of numbers whose squares no float can hold."""
    largest = float(np.abs(numbers).max(initial=0.0))
    if largest == 0 or not np.isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.average((numbers / largest) ** 2, weights=weight)))


def column_scales(features: NDArray[Any]) -> tuple[Values, Values]:
    """Return mean and deviation of each column; a constant column has deviation 1."""
    mean, deviation = features.mean(0, dtype=np.float64), features.std(0, dtype=np.float64)
    # Rounding leaves constant columns a tiny deviation, which would blow up their noise.
    tiny = deviation <= 1e-12 * np.maximum(np.abs(mean), 1e-300)
    return mean, np.where(tiny, 1.0, deviation)


def fit_regression(
    kind: str, rows: Values, target: Values, weight: Values, *, alpha: float | None, settings: dict[str, Any]
) -> MLP:
    """Fit "ridge", "huber" or "mlp" to standardised rows and one target.

    Args:
        kind: Kind of head.
        rows: Features of the known nodes, mean 0 and deviation 1.
        target: Targets of these nodes.
        weight: How much each of them counts, > 0.
        alpha: Penalty of the weights; None chooses it by leaving out one target at a time ("ridge", "huber").
        settings: `hidden`, `lr`, `epochs` and `seed` of an MLP, and its `owner`, which an error names.
    """
    mean = float(np.average(target, weights=weight))
    deviation = root_mean_square(target - mean, weight)
    if deviation <= 1e-12 * max(abs(mean), 1e-300):  # nothing to learn, and nothing to divide by
        return build_layers([(np.zeros((rows.shape[1], 1)), np.array([mean]))])
    scaled = (target - mean) / deviation
    if kind == "mlp":
        layers = _fit_mlp(rows, scaled, weight, _MLP_ALPHA if alpha is None else alpha, settings)
    else:
        layers = _fit_linear(kind, rows, scaled, weight, alpha)
    weights, bias = layers[-1]
    layers[-1] = (weights * deviation, bias * deviation + mean)
    return build_layers(layers)


def _fit_linear(kind: str, rows: Values, target: Values, weight: Values, alpha: float | None) -> Layers:
    chosen: Any = Ridge(1.0 if alpha is None else alpha)
    if alpha is None and len(target) >= _FEW:
        chosen = RidgeCV(ALPHAS)
    chosen.fit(rows, target, sample_weight=weight)
    if kind == "huber":
        strength = float(getattr(chosen, "alpha_", chosen.get_params().get("alpha", 1.0)))
        chosen = _quietly(HuberRegressor(alpha=strength, max_iter=1000), rows, target, weight, chosen)
    return [(np.reshape(chosen.coef_, (-1, 1)), np.reshape(chosen.intercept_, 1))]


def _quietly(model: Any, rows: Values, target: Values, weight: Values, otherwise: Any) -> Any:
    """Fit a model; the other one is returned where the solver fails, as it does if most residuals are 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return model.fit(rows, target, sample_weight=weight)
        except ValueError:
            return otherwise


def _fit_mlp(rows: Values, target: Values, weight: Values, alpha: float, settings: dict[str, Any]) -> Layers:
    model = MLPRegressor(
        hidden_layer_sizes=(settings["hidden"],),
        alpha=alpha,
        learning_rate_init=settings["lr"],
        max_iter=settings["epochs"],
        early_stopping=len(target) >= STOP_EARLY,
        random_state=settings["seed"],
    )
    fit_network(settings["owner"], model, rows, target, weight)
    return list(zip(model.coefs_, model.intercepts_, strict=True))


def fit_network(owner: str, model: Any, rows: Values, target: NDArray[Any], weight: Values) -> None:
    """Fit an MLP of scikit-learn; say what helps where its weights become infinite."""
    # What overflows ends in weights that are not finite, which are refused.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # `epochs` is a limit that the user set
        try:
            model.fit(rows, target, sample_weight=weight)
        except ValueError as error:
            if "non-finite" not in str(error):
                raise
            raise ValueError(
                f"{owner}: the weights of the MLP must stay finite; use a smaller lr than "
                f"{model.learning_rate_init:g}."
            ) from error


def build_layers(layers: Layers) -> MLP:
    """Return a module with these weights, in double precision."""
    widths = [layers[0][0].shape[0], *(weights.shape[1] for weights, _ in layers)]
    module = empty_layers(widths)
    with torch.no_grad():
        for layer, (weights, bias) in zip(module.layers, layers, strict=True):
            layer.weight.copy_(torch.from_numpy(np.ascontiguousarray(weights.T)))  # type: ignore[operator]
            layer.bias.copy_(torch.from_numpy(np.ascontiguousarray(bias)))  # type: ignore[operator]
    return module


def empty_layers(widths: Sequence[int]) -> MLP:
    """Return a module of these widths whose weights are to be filled in."""
    return MLP(list(widths)).double().eval()


def widths_of(module: MLP) -> list[int]:
    """Return the widths of input, hidden layers and output."""
    shapes = [tuple(layer.weight.shape) for layer in module.layers]  # type: ignore[arg-type]
    return [int(shapes[0][1]), *(int(shape[0]) for shape in shapes)]


def read_raw_features(module: MLP, mean: Values, deviation: Values) -> MLP:
    """Return the head that reads features in their own units, given the one that reads standardised ones."""
    first = module.layers[0]
    weight = first.weight.detach() / torch.from_numpy(deviation)  # type: ignore[operator]
    with torch.no_grad():
        first.bias.sub_(weight @ torch.from_numpy(mean))  # type: ignore[operator]
        first.weight.copy_(weight)  # type: ignore[operator]
    return module
