"""What label certificates refuse; `test_enumeration` compares their radii."""

import pytest
import torch

from gadc.robustness.certificates import certify_labels


def test_label_certificate_checks_its_nodes():
    x, y = torch.ones(3, 1), torch.tensor([0, 1, -1])
    with pytest.raises(ValueError, match=r"certify_labels: every node of nodes must have a label"):
        certify_labels(x, y, torch.tensor([0]), torch.tensor([2]))
