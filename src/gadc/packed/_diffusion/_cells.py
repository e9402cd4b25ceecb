"""The nearest nodes of IV+ on large graphs, in cells of k-means, as tasks; see `gadc.diffusion._cells`.

anchors/centers.npy           centres of the cells, from a sample of the nodes
anchors/sample.npy            nodes that the recall is measured on
anchors/cell-0000.npy         cell of each node of a row range
anchors/order.npy, starts.npy nodes in the order of their cells
anchors/directions-0000.npy   x / |x| in that order, a group of cells per file
anchors/keys-0000.npy         edges to the nearest nodes of a group, as sorted keys in both directions
anchors/sampled-0000.npz      nodes of the sample in a group, with the cosines that were found
anchors/recall.json           share of the nearest nodes that were found, on the sample
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gadc._base.pairs import edge_keys, reversed_keys
from gadc._base.tasks import local_copy, place_exists, write_array, write_arrays, write_note
from gadc.diffusion import _cells as cells
from gadc.diffusion._nearest import directions_of
from gadc.packed._diffusion._anchors import keys_file
from gadc.packed._diffusion._columns import PreparedRows
from gadc.packed._diffusion._run import DiffusionRun

CENTERS, SAMPLE, ORDER, STARTS, RECALL = (
    f"anchors/{name}" for name in ("centers.npy", "sample.npy", "order.npy", "starts.npy", "recall.json")
)
_BLOCK = 1024  # rows of cosines at a time


def write_centers(run: DiffusionRun) -> None:
    """Find the cells by k-means, and choose the nodes that the recall is measured on."""
    n = run.graph.num_nodes
    count = cells.count_cells(n)
    learned = PreparedRows(run).pick(cells.learned_rows(n, count).numpy())
    write_array(run.file(SAMPLE), cells.sampled_rows(n).numpy())
    write_array(run.file(CENTERS), cells.learn_centers(directions_of(learned), count).numpy())


def write_cells(run: DiffusionRun, number: int) -> None:
    """Write the cell of each node of a row range."""
    start, stop = run.row_ranges[number]
    rows, centers = PreparedRows(run), torch.from_numpy(_load(run, CENTERS))
    found = [np.empty(0, dtype=np.int32)]
    for low, high in rows.blocks(start, stop):
        found.append(cells.assign(directions_of(rows.read(low, high)), centers).int().numpy())
    write_array(run.part("anchors/cell", number), np.concatenate(found))


def write_order(run: DiffusionRun) -> None:
    """Sort the nodes by their cells."""
    assigned = torch.from_numpy(run.joined("anchors/cell"))
    order, starts = cells.sort_by_cell(assigned, len(_load(run, CENTERS)))
    write_array(run.file(ORDER), order.numpy())
    write_array(run.file(STARTS), np.array(starts, dtype=np.int64))


def write_directions(run: DiffusionRun, number: int) -> None:
    """Write the directions of the nodes of a group of cells, in the order of the cells."""
    starts, groups = _load(run, STARTS), _groups(run)
    nodes = np.asarray(_map(run, ORDER)[starts[groups[number]] : starts[groups[number + 1]]])
    write_array(run.part("anchors/directions", number), directions_of(PreparedRows(run).pick(nodes)).numpy())


def write_near(run: DiffusionRun, number: int) -> None:
    """Write the nearest nodes of the nodes of a group of cells."""
    n = run.graph.num_nodes
    count = min(run.transition.neighbors, n - 1)
    sorted_nodes, close = _Sorted(run), cells.close_cells(torch.from_numpy(_load(run, CENTERS)))
    sample = torch.from_numpy(_load(run, SAMPLE))
    keys = [torch.empty(0, dtype=torch.int64)]
    sampled, measured = [torch.empty(0, dtype=torch.int64)], [torch.empty(0, count)]
    for cell in range(sorted_nodes.groups[number], sorted_nodes.groups[number + 1]):
        members, own = sorted_nodes.read(cell)
        if not len(members):
            continue
        others = [sorted_nodes.read(one) for one in close[cell]]
        among, compared = torch.cat([one[0] for one in others]), torch.cat([one[1] for one in others])
        for low in range(0, len(members), _BLOCK):
            rows = members[low : low + _BLOCK]
            near, cosines = cells.top(own[low : low + _BLOCK], rows, compared, among, count)
            keys.append(edge_keys((rows.unsqueeze(1), near), n)[cosines > 0])
            asked = torch.isin(rows, sample)
            sampled.append(rows[asked])
            missing = count - cosines.shape[1]
            measured.append(torch.nn.functional.pad(cosines[asked], (0, missing), value=-torch.inf))
    found = torch.cat(keys)
    write_arrays(
        run.part("anchors/sampled", number, "npz"),
        {"nodes": torch.cat(sampled).numpy(), "cosines": torch.cat(measured).numpy()},
    )
    write_array(keys_file(run, number), torch.unique(torch.cat([found, reversed_keys(found, n)])).numpy())


def write_recall(run: DiffusionRun) -> None:
    """Compare a sample of nodes with all nodes, and write the share of the nearest ones that were found."""
    parts = [np.load(local_copy(run.part("anchors/sampled", i, "npz"))) for i in range(len(run.row_ranges))]
    nodes = torch.from_numpy(np.concatenate([part["nodes"] for part in parts]))
    found = torch.from_numpy(np.concatenate([part["cosines"] for part in parts]))
    rows = PreparedRows(run)
    queries, exact = directions_of(rows.pick(nodes.numpy())), torch.full_like(found, -torch.inf)
    for low, high in rows.blocks(0, run.graph.num_nodes):
        among = torch.arange(low, high)
        best = cells.top(queries, nodes, directions_of(rows.read(low, high)), among, found.shape[1])[1]
        exact = torch.cat([exact, best], 1).topk(found.shape[1], dim=1).values
    write_note(run.file(RECALL), {"recall": cells.recall(found, exact)})


def read_recall(run: DiffusionRun) -> float | None:
    """Return the recall; None where no cells were used."""
    place = run.file(RECALL)
    return float(json.loads(local_copy(place).read_text())["recall"]) if place_exists(place) else None


class _Sorted:
    """Nodes and directions in the order of their cells, mapped."""

    def __init__(self, run: DiffusionRun) -> None:
        self.groups, self._starts = _groups(run), _load(run, STARTS)
        self._order = _map(run, ORDER)
        self._parts = [
            np.load(local_copy(run.part("anchors/directions", i)), mmap_mode="r", allow_pickle=False)
            for i in range(len(run.row_ranges))
        ]

    def read(self, cell: int) -> tuple[Tensor, Tensor]:
        """Copy the nodes of a cell and their directions."""
        start, stop = int(self._starts[cell]), int(self._starts[cell + 1])
        group = int(np.searchsorted(self.groups, cell, side="right")) - 1
        first = int(self._starts[self.groups[group]])
        nodes = torch.from_numpy(np.array(self._order[start:stop]))
        return nodes, torch.from_numpy(np.array(self._parts[group][start - first : stop - first]))


def _groups(run: DiffusionRun) -> NDArray[np.int64]:
    """Divide the cells into as many groups as there are row ranges, with about as many nodes each."""
    starts, count = _load(run, STARTS), len(run.row_ranges)
    cuts = np.searchsorted(starts, np.linspace(0, starts[-1], count + 1)[1:-1])
    bounds: NDArray[np.int64] = np.concatenate([[0], cuts, [len(starts) - 1]]).astype(np.int64)
    return bounds


def _load(run: DiffusionRun, name: str) -> NDArray[Any]:
    array: NDArray[Any] = np.load(local_copy(run.file(name)), allow_pickle=False)
    return array


def _map(run: DiffusionRun, name: str) -> NDArray[Any]:
    array: NDArray[Any] = np.load(local_copy(run.file(name)), mmap_mode="r", allow_pickle=False)
    return array
