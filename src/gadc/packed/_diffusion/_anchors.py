"""The nearest nodes of IV+, as rows of a graph on disk; one task finds them."""

from __future__ import annotations

import numpy as np
import torch

from gadc._base.tasks import local_copy, write_array
from gadc.diffusion._nearest import nearest
from gadc.operators import LinearOperator, SparsePattern
from gadc.packed._diffusion._columns import PreparedRows
from gadc.packed._diffusion._run import DiffusionRun


def write_anchors(run: DiffusionRun) -> None:
    """Write the graph that joins each node with its nearest nodes."""
    rows = PreparedRows(run)
    x = rows.read(0, run.graph.num_nodes)
    pattern = nearest(x, run.transition.neighbors).pattern
    write_array(run.file("anchors/ptr.npy"), pattern.row_ptr.numpy().astype(np.int64))
    write_array(run.file("anchors/col.npy"), pattern.cols.numpy())


def anchors_of(run: DiffusionRun, start: int, stop: int) -> LinearOperator:
    """Read rows start:stop of the anchors, with weight 1 and an explicit zero diagonal."""
    pointers = np.load(local_copy(run.file("anchors/ptr.npy")), mmap_mode="r")[start : stop + 1]
    cols = np.load(local_copy(run.file("anchors/col.npy")), mmap_mode="r")[pointers[0] : pointers[-1]]
    rows = np.repeat(np.arange(start, stop), np.diff(pointers))
    values = torch.from_numpy((cols != rows).astype(np.float32))
    kept = torch.from_numpy(np.array(cols))
    local = torch.from_numpy((pointers - pointers[0]).astype(kept.numpy().dtype))
    return LinearOperator(SparsePattern(local, kept, run.graph.num_nodes), values)
