"""Diffusion over a packed graph, from file to file: the same result as `gadc.diffuse` in memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gadc._base.locks import sole_writer
from gadc._base.memory import parse_bytes
from gadc._base.tasks import Progress, lock_file, place_of, run_stages
from gadc.diffusion import DivergentSeriesWarning, NearZeroRowSumWarning
from gadc.diffusion._nearest import tell_recall
from gadc.packed._diffusion._cells import read_recall
from gadc.packed._diffusion._hops import error_bound, spectral_radius
from gadc.packed._diffusion._run import DiffusionRun, load_part
from gadc.packed._diffusion._settings import DiffusionSettings
from gadc.packed._diffusion._stages import diffusion_stages
from gadc.packed._graph import PackedGraph

Tell = Callable[[Progress], None]


@dataclass(frozen=True)
class DiffusedFeatures:
    """Features that were diffused over a packed graph, in slabs of columns on disk.

    Attributes:
        run: The run that wrote them.

    Examples:
        >>> import gadc
        >>> from gadc import packed
        >>> graph = packed.pack_data(gadc.datasets.csbm(60, num_features=20, seed=0), "graph")
        >>> result = packed.diffuse(graph, "plain", variant="plain")
        >>> result.shape, result.slab(0).shape, result.rows(5, 10).shape
        ((60, 20), (60, 16), (5, 20))
    """

    run: DiffusionRun

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of nodes and features."""
        return self.run.graph.num_nodes, self.run.graph.num_features

    @property
    def error_bound(self) -> float | None:
        """Bound on the error of the whole series (`gadc.diffusion.Converged`); None for a number of steps."""
        return error_bound(self.run)

    def slab(self, number: int) -> NDArray[np.float32]:
        """Map a slab of columns, shape (n, width)."""
        return load_part(self.run.slab(number), mapped=True)

    def rows(self, start: int = 0, stop: int | None = None) -> NDArray[np.float32]:
        """Copy rows start:stop into memory, all rows by default, shape (rows, d)."""
        slabs = range(len(self.run.graph.slabs))
        return np.hstack([self.slab(i)[start:stop] for i in slabs])

    def row_sums(self) -> NDArray[np.float32]:
        """Map the row sums of S, if they were computed, shape (n,)."""
        return load_part(self.run.file("f/sums.npy"), mapped=True)


def diffuse(
    graph: PackedGraph | str | os.PathLike[str],
    workdir: str | os.PathLike[str],
    *,
    sums: bool = False,
    memory: str | int = "4GB",
    executor: Executor | None = None,
    progress: Tell | None = None,
    **settings: Any,
) -> DiffusedFeatures:
    """Diffuse the features of a packed graph, from file to file.

    A call that was interrupted resumes when it is repeated with the same arguments. While a call runs,
    another one in the same work folder is refused with a `BlockingIOError`.

    Args:
        graph: A packed graph, its folder, or the URL of the folder by fsspec.
        workdir: Folder for T and for the result, which all workers of the executor share under this name, or
            its URL by fsspec, such as s3://bucket/run.
        sums: Also compute the row sums of S. Default: no.
        memory: Memory of one task for its columns, in bytes or text, 4 GB by default; T is mapped and comes
            on top.
        executor: Any `concurrent.futures.Executor`; by default tasks run here, one after the other.
        progress: Called with a `Progress` after every task; by default nothing is called.
        **settings: Arguments of `gadc.diffuse` (`variant`, `lam`, `num_steps`, `eps`, `norm`, `self_loops`,
            `rtol`) with the same defaults, and `normalize`, the row normalisation, "none" by default. With
            `num_steps=None` each slab stops when its error is certain to be below `rtol`, 1e-3 by default.

    Returns:
        The result, mapped.

    Examples:
        >>> import torch, gadc
        >>> from gadc import packed
        >>> data = gadc.datasets.csbm(60, num_features=4, seed=0)
        >>> graph = packed.PackedGraph(packed.pack_data(data, "graph"))
        >>> result = packed.diffuse(graph, "run", variant="III", lam=4.0, num_steps=8)
        >>> in_memory = gadc.diffuse(data.x, data.edge_index, variant="III", lam=4.0, num_steps=8)
        >>> torch.allclose(torch.from_numpy(result.rows()), in_memory, atol=1e-6)
        True
    """
    run = make_run(graph, workdir, memory=memory, **settings)
    with holding(run):
        run_stages(diffusion_stages(run, sums=sums), executor=executor, progress=progress)
        tell_warnings(run)
    return DiffusedFeatures(run)


def make_run(
    graph: PackedGraph | str | os.PathLike[str],
    workdir: str | os.PathLike[str],
    *,
    memory: str | int = "4GB",
    **settings: Any,
) -> DiffusionRun:
    """Check the arguments of a run and describe it; nothing is written."""
    path = place_of(graph.path if isinstance(graph, PackedGraph) else graph)
    size = parse_bytes(memory) if isinstance(memory, str) else memory
    run = DiffusionRun(path, place_of(workdir), DiffusionSettings(**settings), size)
    if not run.graph.num_features:
        raise ValueError(f"diffuse: the graph {path} must have features, got none.")
    return run


class holding(ExitStack):  # noqa: N801  it is called like a function
    """Claim the work folder of a run and keep other runs out within a `with` block."""

    def __init__(self, run: DiffusionRun) -> None:
        super().__init__()
        plan = lock_file(run.file("plan.json"))
        plan.parent.mkdir(parents=True, exist_ok=True)
        self.enter_context(sole_writer("diffuse", plan, f"{run.settings}"))
        try:
            run.claim()
        except BaseException:
            self.close()
            raise


def tell_neighbors(run: DiffusionRun) -> None:
    """Warn if nearest nodes were searched in cells (IV+), with the share that was found."""
    if (recall := read_recall(run)) is not None:
        tell_recall(recall, run.transition.neighbors)


def tell_warnings(run: DiffusionRun) -> None:
    """Issue the warnings that `gadc.diffuse` and `gadc.diffusion.normalize_rows` would issue."""
    settings = run.settings
    if settings.normalize == "sum":
        near = sum(note["near_zero"] for note in run.notes("rows/divisor"))
        if near:
            warnings.warn(
                f"normalize_rows: {near} of {run.graph.num_nodes} rows have a signed sum that nearly cancels "
                'and become huge; "l1" and "l2" are safe.',
                NearZeroRowSumWarning,
                stacklevel=3,
            )
    tell_neighbors(run)
    radius, ratio = spectral_radius(run), settings.lam / (settings.lam + 1)
    if radius is not None and ratio * radius >= 1 and radius > 1:
        warnings.warn(
            f"The diffusion series diverges: λ/(λ+1) · ρ(T) = {ratio:.4g} · {radius:.4g} = "
            f"{ratio * radius:.4g} >= 1. F then depends on where the sum is cut: treat num_steps as a scale "
            f"to tune; for a convergent series take lam < {1 / (radius - 1):.3g} or a smaller eps.",
            DivergentSeriesWarning,
            stacklevel=3,
        )
