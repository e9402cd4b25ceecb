"""Random graphs, features, weights and settings, most of them extreme; one seed gives one draw."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from gadc.diffusion import (
    VARIANTS,
    AnchoredCosine,
    CosineGraph,
    EdgeCosine,
    EdgeGram,
    GlobalGram,
    LowRank,
    Plain,
)

MAGNITUDES = {
    torch.float16: (0.0, 6e-8, 1e-3, 1.0, 6e4),
    torch.bfloat16: (0.0, 1e-38, 1e-3, 1.0, 3e38),
    torch.float32: (
        0.0,
        1e-45,
        1e-38,
        1e-30,
        1e-20,
        1e-10,
        1e-3,
        1.0,
        1e3,
        1e10,
        1e18,
        1e20,
        1e30,
        1e38,
        3e38,
    ),
    torch.float64: (
        *(0.0, 5e-324, 1e-300, 1e-160, 1e-45, 1e-20, 1e-3, 1.0, 1e3, 1e10, 1e20, 1e38, 1e100),
        *(1e154, 1e200, 1e300, 1.7e308),
    ),
}
TYPES = [torch.float32] * 4 + [torch.float64] * 4 + [torch.float16, torch.bfloat16]
STRENGTHS = (0.0, 1e-300, 1e-30, 1e-6, 0.1, 1.0, 32.0, 1e3, 1e6, 1e10, 1e20, 1e30, 1e40, 1e100, 1e300)
WRONG = (float("nan"), float("inf"), -1, -1.5, 0.5, None, "II", "", [1.0], 10**30, 10**400, True, 1e308)


class Draws:
    """Random input of one call.

    Args:
        seed: Seed of everything that is drawn.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311  not a secret
        self.generator = torch.Generator().manual_seed(seed)
        self.dtype = self.one(TYPES)
        self.num_nodes = self.one([1, 2, 3, 5, 16, 17, 20, 33, 40, 120, 300])
        self.num_features = self.one([1, 2, 3, 40, 130])

    def one(self, choices: Sequence[Any]) -> Any:
        """Draw one of the choices."""
        return self.random.choice(choices)

    def chance(self, probability: float) -> bool:
        """Draw True with a probability."""
        return self.random.random() < probability

    def setting(self, *choices: Any) -> Any:
        """Draw one of the choices, and now and then a value that no setting should have."""
        return self.one(WRONG) if self.chance(0.02) else self.one(choices)

    def strength(self) -> Any:
        """Draw λ, ε or another number >= 0, as often usual as extreme."""
        return self.setting(*STRENGTHS, *[1.0] * len(STRENGTHS))

    def num_steps(self) -> Any:
        """Draw a number of steps."""
        if self.chance(0.03):
            return self.one([3000, 10**9])
        return self.setting(0, 1, 2, 3, 16, 16, 64)

    def features(self) -> Tensor:
        """Draw features of one magnitude, of many, of equal or zero rows, or of low rank."""
        n, d, sizes = self.num_nodes, self.num_features, MAGNITUDES[self.dtype]
        kind = self.one(["one", "mixed", "rows", "equal", "zero rows", "integers", "low rank"])
        if kind == "integers":
            return torch.randint(-3, 4, (n, d), generator=self.generator)
        x = self._normal(n, d)
        if kind == "equal":
            x = torch.ones_like(x)
        elif kind == "low rank":
            x = self._normal(n, 1) @ self._normal(1, d)
        elif kind == "zero rows":
            x[torch.rand(n, generator=self.generator) < 0.5] = 0
        shape = {"mixed": (n, d), "rows": (n, 1)}.get(kind, (1, 1))
        return self._clamped(x * self._sizes(shape, sizes))

    def edges(self) -> Tensor:
        """Draw edges: random ones, none, a star, a path, loops, a complete graph, or repeats of an edge."""
        n = self.num_nodes
        nodes = torch.arange(n)
        kind = self.one(["random"] * 3 + ["none", "star", "path", "loops", "complete", "repeats"])
        if kind == "star":
            return torch.stack([torch.zeros_like(nodes), nodes])
        if kind == "path":
            return torch.stack([nodes[:-1], nodes[1:]])
        if kind == "loops":
            return nodes.repeat(2, 1)
        if kind == "complete":
            return torch.combinations(nodes[:40]).T.reshape(2, -1)
        count = {"none": 0, "repeats": 1}.get(kind, self.one([1, n, 3 * n, 10 * n]))
        drawn = torch.randint(0, n, (2, count), generator=self.generator)
        return drawn.repeat(1, 20) if kind == "repeats" else drawn

    def weights(self, count: int) -> Tensor | None:
        """Draw weights of a number of edges, or none."""
        kind = self.one(["none", "none", "ones", "uniform", "zero", "one size", "mixed", "float64"])
        if kind == "none":
            return None
        uniform = torch.rand(count, generator=self.generator, dtype=torch.float64)
        if kind in ("ones", "zero"):
            return torch.full_like(uniform, float(kind == "ones")).to(self.dtype)
        if kind == "uniform":
            return uniform.to(self.dtype)
        if kind == "float64":
            return uniform * self.one(MAGNITUDES[torch.float64])
        shape = (count,) if kind == "mixed" else (1,)
        return self._clamped(uniform * self._sizes(shape, MAGNITUDES[self.dtype]))

    def graph(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """Draw features, edges and weights."""
        x, edges = self.features(), self.edges()
        return x, edges, self.weights(edges.shape[1])

    def adjacency(self) -> Any:
        """Draw a graph as scikit-learn's users have it: a square array or sparse matrix."""
        edges, n = self.edges().numpy(), self.num_nodes
        weights = self.weights(edges.shape[1])
        values = np.ones(edges.shape[1]) if weights is None else weights.double().numpy()
        matrix = scipy.sparse.coo_array((values, tuple(edges)), shape=(n, n)).tocsr()
        return matrix if self.chance(0.5) else matrix.toarray()

    def transition_settings(self) -> dict[str, Any]:
        """Draw the settings of a transition: a name with settings, or an object."""
        if self.chance(0.3):
            return {"variant": self._transition()}
        settings = {
            "norm": self.setting(None, "sym", "rw"),
            "self_loops": self.setting(None, *STRENGTHS),
            "directed": self.chance(0.5),
        }
        chosen = {name: value for name, value in settings.items() if self.chance(0.2)}
        return {"variant": self.setting(*VARIANTS), "eps": self.strength(), **chosen}

    def _transition(self) -> Any:
        loops, directed = self.setting(*STRENGTHS), self.chance(0.2)
        norm, eps, phi = self.one(["sym", "rw"]), self.strength(), self.chance(0.5)
        shared = {"self_loops": loops, "directed": directed}
        usual = {**shared, "norm": norm, "eps": eps}
        builders = [
            lambda: Plain(**shared, norm=norm),
            lambda: EdgeCosine(**usual, phi_self_loops=phi, transpose=self.chance(0.5)),
            lambda: GlobalGram(**usual),
            lambda: EdgeGram(**usual, phi_norm=self.setting("gram", "edges"), phi_self_loops=phi),
            lambda: CosineGraph(**shared, power=self.setting(0.0, 0.5, 2.0, 30.0)),
            lambda: AnchoredCosine(
                neighbors=self.setting(0, 1, 5), anchor=self.setting(0.0, 1.0, 1e-30, 1e30)
            ),
            lambda: LowRank(rank=self.setting(1, 5, 50)),
        ]
        return self.one(builders)()

    def _normal(self, rows: int, columns: int) -> Tensor:
        return torch.randn(rows, columns, generator=self.generator, dtype=torch.float64)

    def _sizes(self, shape: tuple[int, ...], sizes: Sequence[float]) -> Tensor:
        chosen = torch.randint(0, len(sizes), shape, generator=self.generator)
        return torch.tensor(sizes, dtype=torch.float64)[chosen]

    def _clamped(self, values: Tensor) -> Tensor:
        largest = torch.finfo(self.dtype).max
        return values.clamp(-largest, largest).to(self.dtype)
