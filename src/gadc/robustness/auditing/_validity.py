"""Whether an attacked graph obeys the rules, judged by comparing the two graphs and not by the attack."""

from __future__ import annotations

import torch
from torch_geometric.data import Data

from gadc._base.pairs import encode_pairs


def is_valid_attack(clean: Data, attacked: Data, budget: int) -> bool:
    """Check that the attacked graph is simple and undirected and differs in at most `budget` pairs."""
    u, v = attacked.edge_index
    try:
        now, _ = encode_pairs(attacked.edge_index, None)
    except ValueError:  # not symmetric
        return False
    before, _ = encode_pairs(clean.edge_index, None)
    changed = int((~torch.isin(now, before)).sum() + (~torch.isin(before, now)).sum())
    return len(u) == 2 * len(now) and not bool((u == v).any()) and changed <= budget
