"""Rows of `benchmarks/speed.py` about noisy features: GADC (II) and its dense form."""

from __future__ import annotations

import warnings

import torch
from side_by_side import Line, Setup, apart, once, peak_gigabytes, seconds
from torch import Tensor

import gadc
from gadc.datasets import load
from gadc.diffusion import NearZeroRowSumWarning, normalize_rows
from gadc.transforms import make_noise

STEPS = 16


def second_variant(setup: Setup) -> list[Line]:
    """GADC (II) with noise, relative error 1e-3 allowed, against torch.mm with T as an n x n matrix."""
    cases = [("pubmed", 0.05, 32.0, 40.0), ("cora", 0.1, 32.0, 8.0), ("citeseer", 0.1, 32.0, 10.0)]
    return [_against_dense(setup, *case, hops=STEPS) for case in cases] + [
        # One hop of the dense form, times 16: its Φ alone takes 4.8 GB.
        _against_dense(setup, "coauthor-physics", 1.0, 128.0, 10.0, hops=1)
    ]


def _against_dense(setup: Setup, name: str, level: float, lam: float, target: float, *, hops: int) -> Line:
    theirs, dense_peak = apart(_dense, name, level, lam, hops)
    ours, peak, base = apart(_ours, name, level, lam, setup.repeats)
    facts = {
        "peak memory, GB": peak,
        "of which data": base,
        "dense form, GB": dense_peak,
        "relative error": apart(_error, name, level, lam),
    }
    work = f"II, {name}, noise {level:g}, λ={lam:g}, K={STEPS}, rtol=1e-3"
    return Line(work=work, against="dense n x n", ours=ours, theirs=theirs, target=target, facts=facts)


def _noisy(name: str, level: float) -> tuple[Tensor, Tensor]:
    data = make_noise("gaussian-noise", level=level, seed=0)(load(name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearZeroRowSumWarning)
        return normalize_rows(data.x, "sum"), data.edge_index


def _ours(name: str, level: float, lam: float, repeats: int) -> tuple[float, float, float]:
    x, edge_index = _noisy(name, level)
    base = peak_gigabytes()
    settings = {"variant": "II", "lam": lam, "num_steps": STEPS, "rtol": 1e-3, "check_convergence": False}
    return seconds(lambda: gadc.diffuse(x, edge_index, **settings), repeats), peak_gigabytes(), base


def _dense(name: str, level: float, lam: float, hops: int) -> tuple[float, float]:
    """The published form: Φ and T as dense matrices, one product a hop."""
    x, edge_index = _noisy(name, level)
    plain = gadc.transition(x, edge_index, variant="plain")

    def build() -> Tensor:
        phi = x @ x.T
        return plain.to_dense().sub_(phi.div_(phi.norm()))

    def run(T: Tensor) -> Tensor:
        F, power = x / (lam + 1), x
        for _ in range(hops):
            power = lam / (lam + 1) * torch.mm(T, power)
            F = F.add_(power, alpha=1 / (lam + 1))
        return F

    building, T = once(build)
    return building + STEPS / hops * once(lambda: run(T))[0], peak_gigabytes()


def _error(name: str, level: float, lam: float) -> float:
    x, edge_index = _noisy(name, level)
    T, theta = gadc.transition(x, edge_index, variant="II"), gadc.series.neumann(lam, STEPS)
    few = x[:, :: max(x.shape[1] // 500, 1)]  # the direct sum of all columns takes minutes on the largest
    exact = gadc.polynomial(T, few.contiguous(), theta)
    approximate = gadc.polynomial(T, x, theta, rtol=1e-3)[:, :: max(x.shape[1] // 500, 1)]
    return float((approximate - exact).norm() / exact.norm())
