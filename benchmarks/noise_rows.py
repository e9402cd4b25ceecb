"""Rows of `benchmarks/speed.py` about noisy features: GADC (II) and its dense form, many heads at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch
from gadc.linear_heads import train_linear_heads
from side_by_side import Line, Setup, apart, once, peak_gigabytes, seconds
from torch import Tensor
from torch.nn.functional import cross_entropy

import gadc
from gadc.datasets import load
from gadc.diffusion import NearZeroRowSumWarning, normalize_rows
from gadc.models._training.loop import Training
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


def linear_heads(setup: Setup) -> list[Line]:
    """100 linear heads on Cora-sized features, 100 epochs, against one after another."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(640, 1433, generator=generator)
    y = torch.randint(7, (640,), generator=generator)
    rows = (x[:140], y[:140], x[140:], y[140:])
    settings = Training(lr=0.2, weight_decay=1e-5, epochs=100, selection="val-acc")
    ours = seconds(lambda: train_linear_heads(*rows, 7, settings, seeds=range(100)), setup.repeats)
    theirs = 10 * seconds(_plain_heads(rows, settings, 10), 1)
    against = "a plain torch loop (10 heads, times 10)"
    return [Line(work="100 linear heads, 100 epochs", against=against, ours=ours, theirs=theirs, target=5.0)]


def _plain_heads(
    rows: tuple[Tensor, Tensor, Tensor, Tensor], settings: Training, count: int
) -> Callable[[], None]:
    def one(seed: int) -> None:
        torch.manual_seed(seed)
        head = torch.nn.Linear(rows[0].shape[1], 7)
        optimizer = torch.optim.Adam(head.parameters(), lr=settings.lr, weight_decay=settings.weight_decay)
        best = 0.0
        for _ in range(settings.epochs):
            optimizer.zero_grad()
            cross_entropy(head(rows[0]), rows[1]).backward()
            optimizer.step()
            with torch.no_grad():
                accuracy = float((head(rows[2]).argmax(1) == rows[3]).float().mean())
            if accuracy > best:
                best, _kept = accuracy, {name: part.clone() for name, part in head.state_dict().items()}

    def all_of_them() -> None:
        for seed in range(count):
            one(seed)

    return all_of_them
