"""What is compared: the features alone, the plain diffusion, GADC I to IV, and the labels alone.

The grids follow from what their parameters do, not from figures on any data set:

- λ and K: a hop k weighs (λ/(λ+1))^k. λ = 1 looks at the next neighbours, 8 at a few hops, 64 weighs all K
  hops nearly alike. Hops beyond 4 (λ+1) weigh below e^-4 and are not asked for.
- I: its cosines are not normalised and stand against Â, so the series stays short (λ = 1) and ε is about 1.
- II: ‖Φ‖_F = 1 against ‖Â‖ = 1, so ε = 1 may undo the smoothing of X's first direction; 0.1 dampens it.
- III: the entries of Φ shrink with the size of the graph. ε is therefore given by how much of the mean weight
  of an edge it takes away: a tenth, or a half.
- IV: ρ(T) exceeds 1, so K is a scale: a few hops at λ = 1, with self-loops (as published) and without (as in
  the text).
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from gadc._base.validation import check_choice, check_features
from gadc.diffusion import VARIANTS, make_transition, neumann, normalize_rows, polynomial
from gadc.operators import LinearOperator

FAMILIES = ("none", *VARIANTS, "labels")  # from simple to less so
NORMALIZATIONS = ("none", "l2", "l1", "sum")
GRAM_GRID = [(lam, k) for lam in (8.0, 64.0) for k in (4, 8, 16, 32)]
LONG_GRID = [(1.0, 2), (1.0, 4), (1.0, 8), *GRAM_GRID]
PLAIN_GRID = [*LONG_GRID, (64.0, 64)]
LABEL_GRID = [(lam, k) for lam, k in PLAIN_GRID if k >= 8]
SHORT_GRID = [(1.0, k) for k in (1, 2, 4, 8)]
COSINE_GRID = [(1.0, k) for k in (1, 2, 3, 4, 6)]
RADII_I = (0.5, 1.0, 2.0)
RADII_II = (0.1, 1.0)
SHARES_III = (0.1, 0.5)
LOOPS_IV = (0.0, 1.0)
RTOL = 1e-3  # of II, the only variant whose exact sum is dear

_WORDS = {
    "none": "the features alone",
    "plain": "plain diffusion",
    "I": "GADC (I)",
    "II": "GADC (II)",
    "III": "GADC (III)",
    "IV": "GADC (IV)",
    "IV+": "GADC (IV+)",
    "labels": "label propagation",
}
_ROWS = {"none": "", "l1": ", L1 rows", "l2": ", L2 rows", "sum": ", signed-sum rows"}


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A way to make features for a head.

    Args:
        family: "none" (no graph), a variant, or "labels" (label propagation: neither features nor a head).
        normalize: Row normalisation before the diffusion.
        lam: Strength λ.
        num_steps: Hops K.
        eps: Radius ε.
        self_loops: Weight of self-loops; None is the variant's own default.
    """

    family: str
    normalize: str = "none"
    lam: float = 0.0
    num_steps: int = 0
    eps: float = 0.0
    self_loops: float | None = None

    def __post_init__(self) -> None:
        check_choice("Candidate", self.family, "family", FAMILIES)
        check_choice("Candidate", self.normalize, "normalize", NORMALIZATIONS)
        neumann(self.lam, self.num_steps)

    @property
    def words(self) -> str:
        """The candidate for a reader."""
        if self.family == "none":
            return _WORDS["none"] + _ROWS[self.normalize]
        parts = [f"λ = {self.lam:g}", f"K = {self.num_steps}"]
        if self.family in ("I", "II", "III"):
            parts.append(f"ε = {self.eps:.3g}")
        if self.self_loops:
            parts.append("self-loops")
        return f"{_WORDS[self.family]} with {', '.join(parts)}{_ROWS[self.normalize]}"

    @property
    def reads_features(self) -> bool:
        """Whether it can speak about nodes it has not seen."""
        return self.family != "labels"

    def aggregate(
        self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None, *, directed: bool = False
    ) -> Tensor:
        """The features it makes, differentiable in `x` and `edge_weight`."""
        if not self.reads_features:
            raise ValueError("Candidate: label propagation makes no features.")
        x = check_features("Candidate", x)
        rows = normalize_rows(x, self.normalize)
        if self.family == "none":
            return rows
        operator = self.operator(x, rows, edge_index, edge_weight, directed=directed)
        rtol = RTOL if self.family == "II" else None
        return polynomial(operator, rows, neumann(self.lam, self.num_steps), rtol=rtol)

    def operator(
        self, x: Tensor, rows: Tensor, edge_index: Tensor, edge_weight: Tensor | None, *, directed: bool
    ) -> LinearOperator:
        """T: cosines are those of X itself, as a signed sum may turn a row round; products of the rows."""
        build = make_transition(self.family, eps=self.eps, self_loops=self.self_loops, directed=directed)
        return build(x if self.family in ("I", "IV") else rows, edge_index, edge_weight)


def rank(candidate: Candidate) -> tuple[int, int, float, int]:
    """Simpler first: by family, then fewer hops, a smaller ε, no row normalisation."""
    return (
        FAMILIES.index(candidate.family),
        candidate.num_steps,
        candidate.eps,
        NORMALIZATIONS.index(candidate.normalize),
    )


def distinct_normalizations(x: Tensor) -> tuple[str, ...]:
    """The row normalisations that differ on X: signed sums are L1 norms where no entry is negative."""
    kinds = NORMALIZATIONS if bool((x < 0).any()) else NORMALIZATIONS[:-1]
    return kinds if bool((x != 0).any()) else ("none",)


def edge_radii(plain: LinearOperator, edge_gram: LinearOperator) -> tuple[float, ...]:
    """ε of III, so that εΦ takes away such a share of the mean weight of an edge (none without edges).

    Args:
        plain: Â.
        edge_gram: T of III at ε = 1.
    """
    beside = plain.pattern.rows != plain.pattern.cols
    weight = plain.values[beside].abs().sum()
    phi = (plain.values - edge_gram.values)[beside].abs().sum()
    if not bool(phi > 0):
        return ()
    return tuple(float(f"{share * float(weight / phi):.2g}") for share in SHARES_III)
