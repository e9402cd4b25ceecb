"""Whether an attacked graph keeps to the rules, judged by the two graphs and not by the attack's word."""

from __future__ import annotations

import torch
from torch_geometric.data import Data

from gadc._base.pairs import encode_pairs


def is_lawful(clean: Data, attacked: Data, budget: int) -> bool:
    """Whether it is symmetric, has no loops, every edge once, and differs in `budget` pairs at most."""
    u, v = attacked.edge_index
    try:
        now, _ = encode_pairs(attacked.edge_index, None)
    except ValueError:  # not symmetric
        return False
    before, _ = encode_pairs(clean.edge_index, None)
    changed = int((~torch.isin(now, before)).sum() + (~torch.isin(before, now)).sum())
    each_once = len(u) == 2 * len(now)  # loops are no pairs, so they are found by this, too
    return each_once and not bool((u == v).any()) and changed <= budget
