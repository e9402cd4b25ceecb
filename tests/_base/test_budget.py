"""The projection against its optimality conditions, and the choice of flips against all choices."""

from itertools import chain, combinations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from gadc._base.budget import best_within, prefix_within, project

NUMBERS = st.lists(st.floats(-3, 3), min_size=1, max_size=6)
COSTS = st.floats(0.25, 4)


@given(st.lists(st.tuples(st.floats(-3, 3), COSTS), min_size=1, max_size=40), st.floats(0, 20))
def test_projection_satisfies_its_optimality_conditions(entries, budget):
    values, costs = torch.tensor(entries, dtype=torch.float64).T
    found = project(values, budget, costs)
    assert bool(((found >= 0) & (found <= 1)).all())
    spent = float((costs * found).sum())
    clamped = values.clamp(0, 1)
    if float((costs * clamped).sum()) <= budget:
        assert torch.equal(found, clamped)
        return
    assert abs(spent - budget) <= 1e-9 * max(1, budget)
    inside = (found > 0) & (found < 1)
    shifts = (values - found) / costs  # one μ for all entries strictly inside
    if bool(inside.any()):
        assert float(shifts[inside].max() - shifts[inside].min()) <= 1e-9
        shift = float(shifts[inside].mean())
        assert torch.allclose((values - shift * costs).clamp(0, 1), found, atol=1e-8)


@settings(max_examples=15)
@given(NUMBERS, st.floats(0.1, 3))
def test_projection_is_the_nearest_point(numbers, budget):
    values = np.array(numbers)
    reference = minimize(
        lambda p: ((p - values) ** 2).sum(),
        np.zeros(len(values)),
        jac=lambda p: 2 * (p - values),
        bounds=[(0, 1)] * len(values),
        constraints={"type": "ineq", "fun": lambda p: budget - p.sum(), "jac": lambda p: -np.ones(len(p))},
        method="SLSQP",
    )
    found = project(torch.tensor(numbers, dtype=torch.float64), budget)
    assert ((found.numpy() - values) ** 2).sum() <= reference.fun + 1e-6


def test_projection_meets_the_budget_in_single_precision():
    values = torch.randn(200_000, generator=torch.Generator().manual_seed(0)) * 1e-3 + 0.2
    assert abs(float(project(values, 1000).double().sum()) - 1000) < 1e-2


def _subsets(count):
    return chain.from_iterable(combinations(range(count), size) for size in range(count + 1))


@given(NUMBERS, st.integers(0, 6), st.integers(0, 6))
def test_best_within_takes_the_best_set_if_costs_are_equal(gains, budget, limit):
    gain = torch.tensor(gains, dtype=torch.float64)
    chosen = best_within(gain, torch.ones(len(gains)), budget, limit=limit)
    best = max(
        sum(gains[i] for i in subset) for subset in _subsets(len(gains)) if len(subset) <= min(budget, limit)
    )
    assert abs(float(gain[chosen].sum()) - best) < 1e-9


@given(st.lists(st.tuples(st.floats(-1, 3), COSTS), min_size=1, max_size=20), st.floats(0, 15))
def test_best_within_spends_the_budget_as_far_as_it_helps(entries, budget):
    gain, costs = torch.tensor(entries, dtype=torch.float64).T
    chosen = best_within(gain, costs, budget)
    assert len(torch.unique(chosen)) == len(chosen)
    left = budget - float(costs[chosen].sum())
    assert left >= -1e-6
    others = torch.ones(len(gain), dtype=torch.bool).index_fill(0, chosen, False)
    assert not bool((others & (gain > 0) & (costs <= left - 1e-6)).any())


def test_prefix_within_skips_entries_that_do_not_fit():
    assert prefix_within(torch.tensor([2.0, 5.0, 1.0, 0.5]), 3.2).tolist() == [True, False, True, False]
