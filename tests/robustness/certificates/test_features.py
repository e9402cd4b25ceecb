"""What feature certificates refuse; `test_enumeration` compares their radii."""

import pytest
import torch

from gadc.robustness.certificates import certify_features


def test_feature_flips_require_binary_features():
    x, y = torch.full((4, 3), 0.5), torch.zeros(4).long()
    with pytest.raises(ValueError, match='norm "flips" requires x to hold only 0 and 1'):
        certify_features(torch.eye(4), x, torch.eye(3), y, torch.arange(4), norm="flips")
