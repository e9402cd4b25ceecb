"""The library calls that are tried with random input, by name."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch

import gadc
from gadc import series, theory
from gadc.diffusion import NORMALIZATIONS, VARIANTS, normalize_rows
from gadc.estimators import GADCClassifier, GADCMultilabelClassifier, GADCRegressor, GADCTransformer
from gadc.pyg import GADCConv, GADCTransform
from tests.fuzz.draws import STRENGTHS, Draws

RTOL = (1e-300, 1e-12, 1e-6, 1e-3, 0.1, 10.0)


def diffuse(draws: Draws) -> Any:
    """Diffuse, the series summed directly."""
    x, edges, weights = draws.graph()
    settings = {**draws.transition_settings(), "lam": draws.strength(), "num_steps": draws.num_steps()}
    if draws.chance(0.2):
        settings["phi_x"] = draws.features()
    return gadc.diffuse(x, edges, weights, **settings, check_convergence=draws.chance(0.8))


def diffuse_to_tolerance(draws: Draws) -> Any:
    """Diffuse to a relative error."""
    x, edges, weights = draws.graph()
    settings = {**draws.transition_settings(), "lam": draws.strength(), "num_steps": draws.num_steps()}
    return gadc.diffuse(x, edges, weights, **settings, rtol=draws.setting(*RTOL))


def transition(draws: Draws) -> Any:
    """Build T, multiply it, and ask for its spectrum."""
    operator = gadc.transition(*draws.graph(), **draws.transition_settings())
    unit = torch.ones(draws.num_nodes, dtype=operator.dtype)
    radius = operator.spectral_radius()
    return [operator, radius, operator @ (unit / draws.num_nodes) if radius < 1e30 else 0.0]


def polynomial(draws: Draws) -> Any:
    """Evaluate a random series of T."""
    x, edges, weights = draws.graph()
    operator = gadc.transition(x, edges, weights, **draws.transition_settings())
    theta = _series(draws)
    features = x.to(operator.dtype) if draws.chance(0.9) else x
    return gadc.polynomial(operator, features, theta, rtol=draws.setting(None, *RTOL))


def coefficients(draws: Draws) -> Any:
    """Compute the coefficients of a series."""
    return _series(draws)


def minimize_agsd(draws: Draws) -> Any:
    """Find the exact minimiser; its objective never rises and is never negative."""
    solution = gadc.minimize_agsd(
        *draws.graph(),
        lam=draws.strength(),
        eps=draws.strength(),
        tol=draws.setting(1e-12, 1e-4, 1e-4, 1e-2),
        max_iter=draws.setting(0, 5, 100, 1000),
        self_loops=draws.setting(1.0, 1.0, 1.0, 0.0, 1e30),
    )
    history = solution.history
    assert solution.objective >= 0, f"the objective is {solution.objective}"
    assert solution.error_bound >= 0, f"the error bound is {solution.error_bound}"
    assert all(b <= a for a, b in pairwise(history)), "the objective rises"
    return [solution.F, solution.objective, solution.gradient_norm, solution.error_bound, *history]


def operator_theory(draws: Draws) -> Any:
    """Compute row sums, noise gain or connectivity of a diffusion."""
    operator = gadc.transition(*draws.graph(), **draws.transition_settings())
    settings = {"lam": draws.strength(), "num_steps": draws.num_steps()}
    if draws.chance(0.3):
        return theory.row_sums(operator, **settings)
    figure = draws.one([theory.noise_gain, theory.connectivity_factor])
    found = figure(operator, **settings, exact=draws.one([True, False, None]))
    return [found.value, found.error]


def noise_bounds(draws: Draws) -> Any:
    """Compute a bound on the noise that is left."""
    sizes = {"num_nodes": draws.setting(1, 300, 10**9), "num_features": draws.setting(1, 40, 10**6)}
    sigma = draws.strength()
    if draws.chance(0.3):
        return theory.expected_noise_energy(draws.strength(), sigma=sigma, **sizes)
    settings = {"lam": draws.strength(), "num_steps": draws.num_steps(), "sigma": sigma, **sizes}
    if draws.chance(0.5):
        return theory.printed_frobenius_bound(draws.strength(), **settings)
    return theory.entrywise_noise_bound(
        draws.strength(), **settings, failure=draws.setting(None, 1e-300, 0.1)
    )


def objectives(draws: Draws) -> Any:
    """Compute an objective of denoising, which is never negative."""
    F, (x, edges, weights) = draws.features(), draws.graph()
    settings = {"lam": draws.strength(), "self_loops": draws.setting(1.0, 1.0, 0.0, 1e30)}
    if draws.chance(0.5):
        value = theory.gsd_objective(F, x, edges, weights, **settings)
    else:
        value = theory.agsd_objective(F, x, edges, weights, **settings, eps=draws.strength())
    assert float(value) >= 0, f"the objective is {float(value)}"
    return value


def worst_perturbation(draws: Draws) -> Any:
    """Build the adversary's best move."""
    return theory.worst_perturbation(draws.features(), draws.strength())


def normalize(draws: Draws) -> Any:
    """Normalise rows."""
    return normalize_rows(draws.features(), draws.setting(*NORMALIZATIONS))


def transformer(draws: Draws) -> Any:
    """Fit a transformer and transform."""
    X = _array(draws)
    return GADCTransformer(_adjacency(draws), **_estimator_settings(draws)).fit_transform(X)


def classifier(draws: Draws) -> Any:
    """Fit a classifier for a few epochs and predict probabilities."""
    X = _array(draws)
    y = np.arange(len(X)) % draws.one([1, 2, 2, 3, 3])
    y[draws.random.randrange(len(X)) :] = draws.one([-1, 0])
    settings = _estimator_settings(draws)
    if draws.chance(0.05):  # it trains many models, so it is tried less often
        settings["variant"] = "auto"
    model = GADCClassifier(
        _adjacency(draws),
        **settings,
        scoring=draws.setting(None, "accuracy", "neg_log_loss"),
        class_weight=draws.setting(None, "balanced"),
        time_budget=draws.setting(0.1, 2),
        head=draws.setting("linear", "mlp"),
        hidden=draws.setting(1, 8),
        dropout=draws.setting(0.0, 0.5),
        lr=draws.setting(1e-300, 0.05, 0.05, 1e10),
        weight_decay=draws.setting(0.0, 5e-4, 1e30),
        epochs=draws.setting(1, 3),
        selection=draws.setting("val-loss", "val-acc", "last"),
        validation_fraction=draws.setting(0.0, 0.2, 0.9),
        random_state=0,
    ).fit(X, y)
    other = _array(draws) if draws.chance(0.3) else X
    return [model.predict_proba(other), model.decision_function(other)]


def regressor(draws: Draws) -> Any:
    """Fit a regressor to some numbers and predict."""
    X = _array(draws)
    y = np.arange(len(X)) * draws.one([1.0, 0.0, 1e-300, 1e150, -3.5])
    y[draws.random.randrange(len(X)) :] = draws.one([np.nan, 7.0])
    model = GADCRegressor(_adjacency(draws), **_estimator_settings(draws), **_head_settings(draws))
    model.set_params(head=draws.setting("ridge", "huber", "mlp"), alpha=draws.setting(None, 1e-9, 1e9))
    model.fit(X, y, sample_weight=draws.one([None, 2.0, np.arange(len(X))]))
    return [model.predict(_array(draws) if draws.chance(0.3) else X)]


def several_labels(draws: Draws) -> Any:
    """Fit a classifier of several labels and predict probabilities."""
    X = _array(draws)
    y = np.stack([np.arange(len(X)) % 2, np.arange(len(X)) % 3 == 0], 1).astype(float)
    y[draws.random.randrange(len(X)) :] = draws.one([-1, np.nan, 1])
    model = GADCMultilabelClassifier(_adjacency(draws), **_estimator_settings(draws), **_head_settings(draws))
    model.set_params(head=draws.setting("logistic", "mlp"), alpha=draws.setting(1e-9, 1.0, 1e9)).fit(X, y)
    return [model.predict_proba(X), model.predict(X)]


def layer(draws: Draws) -> Any:
    """Call a layer twice, the second time from its cache."""
    x, edges, weights = draws.graph()
    conv = GADCConv(
        draws.num_features,
        draws.setting(1, 3, 50),
        lam=draws.strength(),
        num_steps=draws.num_steps(),
        rtol=draws.setting(None, 1e-3),
        cached=draws.one([None, True, False]),
        **draws.transition_settings(),
    )
    with torch.no_grad():
        conv = conv.double() if x.dtype == torch.float64 else conv
        return [conv(x, edges, weights), conv(x, edges, weights)]


def transform(draws: Draws) -> Any:
    """Transform a PyTorch Geometric graph."""
    from torch_geometric.data import Data

    x, edges, weights = draws.graph()
    change = GADCTransform(
        lam=draws.strength(),
        num_steps=draws.num_steps(),
        output=draws.setting("features", "edges"),
        **draws.transition_settings(),
    )
    changed = change(Data(x=x, edge_index=edges, edge_weight=weights))
    return [changed.x, changed.edge_weight]


def _series(draws: Draws) -> Any:
    steps, strength = draws.num_steps(), draws.strength()
    share = draws.setting(0.0, 0.1, 0.5, 1.0)
    return draws.one(
        [
            lambda: series.neumann(strength, steps),
            lambda: series.heat(strength, steps),
            lambda: series.ppr(share, steps),
            lambda: series.appnp(share, steps),
            lambda: series.ssgc(share, steps),
            lambda: series.sgc(steps),
            lambda: [draws.one(STRENGTHS) for _ in range(5)],
        ]
    )()


def _array(draws: Draws) -> np.ndarray:
    x = draws.features()
    return (x.float() if x.dtype == torch.bfloat16 else x).numpy()


def _adjacency(draws: Draws) -> Any:
    return None if draws.chance(0.1) else draws.adjacency()


def _estimator_settings(draws: Draws) -> dict[str, Any]:
    return {
        "variant": draws.setting(*VARIANTS),
        "lam": draws.strength(),
        "num_steps": draws.num_steps(),
        "eps": draws.strength(),
        "normalize": draws.setting(*NORMALIZATIONS),
        "rtol": draws.setting(None, None, 1e-3),
        "self_loops": draws.setting(None, None, *STRENGTHS),
        "directed": draws.chance(0.2),
    }


def _head_settings(draws: Draws) -> dict[str, Any]:
    return {
        "hidden": draws.setting(1, 8),
        "lr": draws.setting(1e-300, 0.01, 1e10),
        "epochs": draws.setting(1, 3),
        "cv": draws.setting(2, 5),
        "time_budget": draws.setting(0.1, 2),
        "random_state": 0,
    }


CALLS: dict[str, Callable[[Draws], Any]] = {
    call.__name__: call
    for call in (
        *(
            diffuse,
            diffuse_to_tolerance,
            transition,
            polynomial,
            coefficients,
            minimize_agsd,
            operator_theory,
        ),
        *(noise_bounds, objectives, worst_perturbation, normalize, transformer, classifier, layer, transform),
        *(regressor, several_labels),
    )
}
