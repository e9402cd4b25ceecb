"""The nearest nodes of IV+ as sorted keys on disk: from one exact task, or from tasks by cells (`_cells`)."""

from __future__ import annotations

import numpy as np
import torch

from gadc._base.pairs import edge_keys
from gadc._base.tasks import local_copy, write_array
from gadc.diffusion import _nearest
from gadc.operators import LinearOperator, SparsePattern
from gadc.packed._diffusion._columns import PreparedRows
from gadc.packed._diffusion._run import DiffusionRun


def uses_cells(run: DiffusionRun) -> bool:
    """Return whether there are so many nodes that nearest ones are searched in cells, as in memory."""
    return run.graph.num_nodes > _nearest.MAX_EXACT


def keys_file(run: DiffusionRun, number: int) -> str:
    """Return a file of anchors: sorted keys i n + j in both directions."""
    return run.part("anchors/keys", number)


def write_anchors(run: DiffusionRun) -> None:
    """Write the keys of the edges between each node and its nearest nodes, all pairs compared."""
    n = run.graph.num_nodes
    x = PreparedRows(run).read(0, n)
    pattern = _nearest.nearest(x, run.transition.neighbors).pattern
    write_array(keys_file(run, 0), edge_keys((pattern.rows, pattern.cols), n).numpy())


def anchors_of(run: DiffusionRun, start: int, stop: int) -> LinearOperator:
    """Read rows start:stop of the anchors, with weight 1 and an explicit zero diagonal."""
    n = run.graph.num_nodes
    nodes = np.arange(start, stop, dtype=np.int64)
    found = [nodes * n + nodes]
    for number in range(len(run.row_ranges) if uses_cells(run) else 1):
        keys = np.load(local_copy(keys_file(run, number)), mmap_mode="r", allow_pickle=False)
        first, last = np.searchsorted(keys, [start * n, stop * n])
        found.append(np.asarray(keys[first:last]))
    keys = torch.from_numpy(np.unique(np.concatenate(found)) - start * n)
    pattern = SparsePattern.from_keys(keys, stop - start, n)
    rows = torch.repeat_interleave(torch.arange(start, stop), pattern.row_ptr.diff().long())
    return LinearOperator(pattern, (pattern.cols != rows).float())
