"""Label certificates equal what trying all wrong labels finds."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gadc.robustness.certificates import certify_labels
from tests.helpers.perturbations import label_radius


@given(seed=st.integers(0, 2**16), num_classes=st.integers(2, 3), penalty=st.sampled_from([0.1, 1.0, 10.0]))
def test_label_radii_equal_the_enumeration_of_all_wrong_labels(seed, num_classes, penalty):
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(7, 3, generator=generator, dtype=torch.float64)
    y = torch.randint(num_classes, (7,), generator=generator)
    y[6] = num_classes - 1
    train, nodes = torch.arange(5), torch.tensor([5, 6, 0])
    certificate = certify_labels(features, y, train, nodes, penalty=penalty)
    expected = [label_radius(features, y, train, node, penalty, num_classes) for node in nodes.tolist()]
    assert certificate.radii.tolist() == expected
    assert certificate.kind == "exact"


def test_label_certificate_checks_its_nodes():
    x, y = torch.ones(3, 1), torch.tensor([0, 1, -1])
    with pytest.raises(ValueError, match=r"certify_labels: every node of nodes must have a label"):
        certify_labels(x, y, torch.tensor([0]), torch.tensor([2]))
