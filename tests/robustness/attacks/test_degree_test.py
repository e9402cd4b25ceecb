"""The test on degrees against SciPy's power law."""

import pytest
import torch
from scipy.stats import powerlaw

from gadc.robustness.attacks._degree_test import DegreeTest


def test_degree_statistic_is_a_likelihood_ratio():
    degree = torch.tensor([1, 2, 2, 3, 5, 4, 2, 7, 1, 3])
    pairs, change = torch.tensor([[0, 1], [3, 4]]), torch.tensor([1, -1])
    found = DegreeTest(degree, 0.004).statistic(degree, pairs, change)

    def likelihood(sample):
        # d > b follows a power law of exponent α if b/d follows a power distribution of exponent α - 1.
        inverse = (1.5 / sample[sample >= 2].double()).numpy()
        shape = -len(inverse) / torch.from_numpy(inverse).log().sum().item()
        return (powerlaw.logpdf(inverse, shape) + 2 * torch.from_numpy(inverse).log().numpy()).sum()

    def ratio(u, v, step):
        after = degree.clone()
        after[[u, v]] += step
        return 2 * (likelihood(degree) + likelihood(after) - likelihood(torch.cat([degree, after])))

    assert found.tolist() == pytest.approx([ratio(0, 3, 1), ratio(1, 4, -1)], abs=1e-9)
    assert bool((found >= 0).all())
