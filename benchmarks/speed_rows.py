"""Rows of `benchmarks/speed.py` about products and diffusion; the other side is written from the formula."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from scipy import sparse
from side_by_side import Line, Setup, apart, copy_bandwidth, large_graph, once, peak_gigabytes, seconds
from torch import Tensor
from torch_geometric.nn import APPNP, SGConv
from torch_geometric.transforms import GDC
from torch_geometric.utils import spmm as pyg_spmm

import gadc
from gadc.datasets import power_law
from gadc.operators import LinearOperator, SparsePattern, Step
from gadc.operators._torch import csr as torch_csr
from gadc.operators._torch import dense_blocks

LAM, STEPS, RTOL = 32.0, 128, 1e-4


def one_product(setup: Setup) -> list[Line]:
    x, edge_index = large_graph(setup)
    T = gadc.transition(x, edge_index, variant="plain")
    del edge_index
    out = T.apply(x)
    ours = seconds(lambda: T.apply(x, Step(out=out)), setup.repeats)
    matrix = torch_matrix(T)
    same = sparse.csr_array(
        (T.values.numpy(), T.pattern.cols.numpy(), T.pattern.row_ptr.numpy()), shape=T.shape
    )
    others = {
        "torch CSR": lambda: matrix @ x,
        "PyG spmm": lambda: pyg_spmm(matrix, x),
        "SciPy": lambda: same @ x.numpy(),
    }
    bandwidth = copy_bandwidth()
    entries, row = T.pattern.nnz, x.shape[1] * x.element_size()
    index = 8 * entries + row * len(x)  # columns, values and the result
    gathered, once_each = (index + row * entries) / bandwidth, (index + row * len(x)) / bandwidth
    facts = {
        "copy bandwidth, GB/s": bandwidth / 1e9,
        "share of the bound, a gather an entry": gathered / ours,
        "share of the bound, every matrix read once": once_each / ours,
    }
    return [
        Line(
            work=f"one product, {entries / 1e6:.0f} M entries x {x.shape[1]}",
            against=name,
            ours=ours,
            theirs=seconds(work, 1 if name == "SciPy" else setup.repeats, warm=name != "SciPy"),
            target=1.0,
            facts=facts if name == "torch CSR" else {},
        )
        for name, work in others.items()
    ]


def third_variant(setup: Setup) -> list[Line]:
    """GADC (III) with λ = 32, K = 128: all of it, against 4 steps of the plain loop, times 32."""
    theirs = apart(_plain_steps, setup)
    ours, peak = apart(_third_variant, setup)
    error = apart(_third_variant_error, setup)
    facts = {"peak memory, GB": peak, "relative error, first 4 columns": error}
    against = "torch CSR loop of 128 steps"
    return [
        Line(
            work=f"III, λ=32, K=128, rtol=1e-4, {setup.nodes:,} nodes, all of it",
            against=against,
            ours=ours,
            theirs=theirs,
            target=6.0,
            facts=facts,
        )
    ]


def _third_variant(setup: Setup) -> tuple[float, float]:
    x, edge_index = large_graph(setup)
    _warm_up()
    settings = {"variant": "III", "lam": LAM, "num_steps": STEPS, "rtol": RTOL}
    return once(lambda: gadc.diffuse(x, edge_index, **settings))[0], peak_gigabytes()


def _plain_steps(setup: Setup) -> float:
    x, edge_index = large_graph(setup)
    matrix = torch_matrix(gadc.transition(x, edge_index, variant="III"))
    del edge_index
    F, power = x / (LAM + 1), x

    def steps(count: int) -> None:
        nonlocal power
        for _ in range(count):
            power = LAM / (LAM + 1) * (matrix @ power)
            F.add_(power, alpha=1 / (LAM + 1))

    steps(1)  # does not count
    return 32 * once(lambda: steps(4))[0]


def _third_variant_error(setup: Setup) -> float:
    """Against the direct sum, on the columns that time allows; the bound holds for any columns."""
    x, edge_index = large_graph(setup)
    T = gadc.transition(x, edge_index, variant="III")
    del edge_index
    few, theta = x[:, :4].contiguous(), gadc.series.neumann(LAM, STEPS)
    exact = gadc.polynomial(T, few, theta)
    return float((gadc.polynomial(T, few, theta, rtol=RTOL) - exact).norm() / exact.norm())


def plain_diffusion(setup: Setup) -> list[Line]:
    """Ten hops of APPNP and of SGC on a graph that is already normalised."""
    lines = []
    for name in ("pubmed", "coauthor-cs", "large"):
        try:
            lines += apart(_plain_diffusion, setup, name)
        except RuntimeError as error:  # the data set is absent
            print(f"{name} left out: {error}")
    return lines


def _plain_diffusion(setup: Setup, name: str) -> list[Line]:
    x, edge_index = large_graph(setup) if name == "large" else _named(name)
    T = gadc.transition(x, edge_index, variant="plain")
    matrix = torch_matrix(T)
    repeats = 1 if name == "large" else setup.repeats
    ours = {
        method: seconds(lambda theta=theta: gadc.polynomial(T, x, theta), repeats, warm=name != "large")
        for method, theta in {"appnp": gadc.series.appnp(0.1, 10), "sgc": gadc.series.sgc(10)}.items()
    }
    appnp = APPNP(K=10, alpha=0.1, normalize=False)
    peers: dict[str, tuple[str, Callable[[], object]]] = {
        "PyG APPNP": ("appnp", lambda: appnp(x, matrix)),
        "PyG SGConv propagation": ("sgc", partial(_sgc_hops, x, matrix)),
    }
    if name != "large":  # its dense or pushed n x n matrix is out of the question there
        peers["PyG T.GDC (push, eps 1e-4) and one product"] = ("appnp", partial(_gdc, x, edge_index))
    if sknetwork := _sknetwork(T, x):
        peers["scikit-network Polynome"] = ("appnp", sknetwork)
    with torch.no_grad():
        return [
            Line(
                work=f"plain diffusion, K=10, {name} ({len(x):,} nodes)",
                against=peer,
                ours=ours[kind],
                theirs=seconds(work, 1 if "GDC" in peer else repeats, warm=False),
                target=1.0,
            )
            for peer, (kind, work) in peers.items()
        ]


def _named(name: str) -> tuple[Tensor, Tensor]:
    from gadc.datasets import load

    data = load(name)
    return data.x.to_dense(), data.edge_index


def _sgc_hops(x: Tensor, matrix: Tensor) -> Tensor:
    layer = SGConv(1, 1, K=10)
    for _ in range(10):
        x = layer.propagate(matrix, x=x, edge_weight=None)
    return x


def _gdc(x: Tensor, edge_index: Tensor) -> Tensor:
    from torch_geometric.data import Data

    push = {"method": "ppr", "alpha": 0.1, "eps": 1e-4}
    keep = {"method": "threshold", "eps": 1e-4}
    transform = GDC(1, "sym", "sym", diffusion_kwargs=push, sparsification_kwargs=keep, exact=False)
    data = transform(Data(x=x, edge_index=edge_index, num_nodes=len(x)))
    made = torch.sparse_coo_tensor(data.edge_index, data.edge_attr, (len(x), len(x)))
    return made @ x


def _sknetwork(T: LinearOperator, x: Tensor) -> Callable[[], object] | None:
    try:
        from sknetwork.linalg import Polynome
    except ImportError:
        return None
    parts = (T.values.numpy(), T.pattern.cols.numpy(), T.pattern.row_ptr.numpy())
    theta = np.array(gadc.series.appnp(0.1, 10), dtype=np.float32)
    # `dot` would go column by column; this takes all of them at once, which is faster.
    return lambda: Polynome(sparse.csr_matrix(parts, shape=T.shape), theta)._matvec(x.numpy())


def growth(setup: Setup) -> list[Line]:
    """Nodes and edges times 1, 2, 4, 8: building T of III and ten hops, in a process each."""
    sizes = [setup.nodes // 8 * factor for factor in (1, 2, 4, 8)]
    measured = [apart(_grow, size) for size in sizes]
    edges, times, peaks = (np.log([one[i] for one in measured]) for i in range(3))
    exponents = {
        "exponent of time": float(np.polyfit(edges, times, 1)[0]),
        "exponent of memory": float(np.polyfit(edges, peaks, 1)[0]),
        "exponents asked for": 1.1,
    }
    return [
        Line(
            work=f"III, K=10, {size:,} nodes",
            against="growth",
            ours=time,
            facts={"entries": count, "memory, GB": peak, **(exponents if size == sizes[-1] else {})},
        )
        for size, (count, time, peak) in zip(sizes, measured, strict=True)
    ]


def _grow(nodes: int) -> tuple[int, float, float]:
    data = power_law(nodes, 50.52, num_classes=47, num_features=100, seed=0)
    x, edge_index = data.x, data.edge_index
    del data
    _warm_up()
    before = _resident()
    watch = _Watch()
    time, _ = once(lambda: gadc.diffuse(x, edge_index, variant="III", num_steps=10))
    return edge_index.shape[1], time, (watch.stop() - before) / 1e9


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class _Watch:
    """The largest resident memory while it runs: the peak of the process may lie before."""

    def __init__(self) -> None:
        import threading

        self._done, self._peak = threading.Event(), 0
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._done.wait(0.02):
            self._peak = max(self._peak, _resident())

    def stop(self) -> int:
        self._done.set()
        self._thread.join()
        return self._peak


def all_pairs(setup: Setup) -> list[Line]:
    """A complete pattern, as in attacks that relax over all pairs of Cora."""
    n, lines = 2485, []
    pattern = SparsePattern.from_keys(torch.arange(n * n), n, n)
    values = torch.rand(pattern.nnz)
    for columns in (16, 1433):
        dense = torch.rand(n, columns)
        for name in ("spmm", "sddmm"):
            arguments = (values, dense) if name == "spmm" else (dense, dense)
            ours, theirs = (
                seconds(partial(getattr(m, name), pattern, *arguments), setup.repeats)
                for m in (dense_blocks, torch_csr)
            )
            work = f"{name} over all pairs, n={n}, d={columns}"
            lines.append(Line(work=work, against="torch CSR", ours=ours, theirs=theirs))
    return lines


def first_call(setup: Setup) -> list[Line]:
    """Seconds of the first product of a process: compiled, and loaded from the disk."""
    code = (
        "import time, torch; start = time.perf_counter(); "
        "from gadc.operators import SparsePattern; from gadc.operators._numba import csr as numba_csr;"
        "p = SparsePattern.from_keys(torch.arange(9), 3, 3);"
        "numba_csr.spmm(p, torch.ones(9), torch.ones(3, 2));"
        "print(time.perf_counter() - start)"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        runs = [
            float(
                subprocess.run(
                    [sys.executable, "-c", code], env=environment, capture_output=True, check=True
                ).stdout
            )
            for _ in range(2)
        ]
    return [Line(work="first product of a process, loaded", against="compiled", ours=runs[1], theirs=runs[0])]


def torch_matrix(T: LinearOperator) -> Tensor:
    """The sparse part as torch's own CSR matrix."""
    return torch_csr._csr(T.pattern, T.values)


def _warm_up() -> None:
    """Compile or load the kernels, which is measured by itself."""
    small = power_law(300, 6, num_features=100, seed=0)
    with gadc.operators.use_backend("numba"):
        gadc.diffuse(small.x, small.edge_index, variant="III", num_steps=4, rtol=1e-2)
        gadc.diffuse(small.x, small.edge_index, variant="III", num_steps=4)
