"""The candidates that `auto` compares: no graph, every variant, and label propagation.

The grids follow from what their parameters do, not from figures on any data set:

- λ and K: hop k has the weight (λ/(λ+1))^k. λ = 1 covers the nearest neighbours, 8 a few hops, and 64 gives
  all K hops nearly equal weights. Hops beyond 4 (λ+1) have a weight below e^-4 and are not tried.
- I: its cosines are not normalised and stand against Â, so the series stays short (λ = 1) and ε is about 1.
- II: ‖Φ‖_F = 1 against ‖Â‖ = 1, so ε = 1 may undo the smoothing of X's first direction; 0.1 dampens it.
- III: the entries of Φ shrink with the size of the graph. ε is therefore set by the share of the mean weight
  of an edge that it takes away: a tenth, or a half.
- IV: ρ(T) exceeds 1, so K is a scale: a few hops at λ = 1, with self-loops (as published) and without (as in
  the text).
- IV+: its rows sum to 1, and its anchors connect similar nodes wherever they are, so a few hops reach far.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from gadc._base.validation import check_choice, check_features
from gadc.diffusion import VARIANTS, make_transition, neumann, normalize_rows, polynomial
from gadc.operators import LinearOperator

FAMILIES = ("none", *VARIANTS, "labels")  # from simple to less simple
COSINE_FAMILIES = ("I", "IV", "IV+")  # their similarities are cosines, those of II and III inner products
NORMALIZATIONS = ("none", "l2", "l1", "sum")  # from simple to less simple
GRAM_GRID = [(lam, k) for lam in (8.0, 64.0) for k in (4, 8, 16, 32)]
LONG_GRID = [(1.0, 2), (1.0, 4), (1.0, 8), *GRAM_GRID]
PLAIN_GRID = [*LONG_GRID, (64.0, 64)]
LABEL_GRID = [(lam, k) for lam, k in PLAIN_GRID if k >= 8]
COSINE_GRIDS = {
    "I": [(1.0, k) for k in (1, 2, 4, 8)],
    "IV": [(1.0, k) for k in (1, 2, 3, 4, 6)],
    "IV+": [(1.0, 2), (1.0, 4), (8.0, 4), (8.0, 8)],
}
RADII_I = (0.5, 1.0, 2.0)
RADII_II = (0.1, 1.0)
SHARES_III = (0.1, 0.5)
LOOPS_IV = (0.0, 1.0)
MOST_COMPARISONS = 2e11  # n² d multiplications that IV+ may take to find its anchors: some ten seconds
RTOL = 1e-3  # of II, the only variant whose exact sum is expensive

_WORDS = {"none": "the features alone", "plain": "plain diffusion", "labels": "label propagation"}
_ROWS = {"none": "", "l1": ", L1 rows", "l2": ", L2 rows", "sum": ", signed-sum rows"}


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A way to compute features for a head.

    Args:
        family: "none" (no graph), a name of `VARIANTS`, or "labels" (label propagation, which has neither
            features nor a head).
        normalize: Row normalisation before the diffusion, "none" by default.
        lam: Strength λ.
        num_steps: Number of hops K.
        eps: Radius ε of I to III.
        self_loops: Weight of self-loops; None is the default of the variant.
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
        """The candidate in words."""
        name = _WORDS.get(self.family, f"GADC ({self.family})")
        if self.family == "none":
            return name + _ROWS[self.normalize]
        parts = [f"λ = {self.lam:g}", f"K = {self.num_steps}"]
        if self.family in ("I", "II", "III"):
            parts.append(f"ε = {self.eps:.3g}")
        if self.self_loops:
            parts.append("self-loops")
        return f"{name} with {', '.join(parts)}{_ROWS[self.normalize]}"

    @property
    def reads_features(self) -> bool:
        """Whether it computes features, so that it can also classify the nodes of other graphs."""
        return self.family != "labels"

    def aggregate(
        self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None, *, directed: bool = False
    ) -> Tensor:
        """Compute the features, shape (n, d), differentiable in `x` and `edge_weight`.

        Args:
            x: Raw features, shape (n, d).
            edge_index: Edges, shape (2, m).
            edge_weight: Weights of the edges, shape (m,); 1 each by default.
            directed: See `gadc.transition`.
        """
        if not self.reads_features:
            raise ValueError("Candidate: label propagation has no features.")
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
        """Build T, from the raw features where it consists of cosines and otherwise from normalised rows.

        Dividing a row by a negative sum turns it round, and its cosines with it.
        """
        build = make_transition(self.family, eps=self.eps, self_loops=self.self_loops, directed=directed)
        return build(x if self.family in COSINE_FAMILIES else rows, edge_index, edge_weight)


def rank(candidate: Candidate) -> tuple[int, int, float, int]:
    """Sort key that puts simpler candidates first: by family, hops, ε and row normalisation."""
    return (
        FAMILIES.index(candidate.family),
        candidate.num_steps,
        candidate.eps,
        NORMALIZATIONS.index(candidate.normalize),
    )


def cosine_candidates(normalize: str) -> list[Candidate]:
    """Return every transition of I, IV and IV+, still without λ and K."""
    return [
        *(Candidate(family="I", normalize=normalize, eps=eps) for eps in RADII_I),
        *(Candidate(family="IV", normalize=normalize, self_loops=loops) for loops in LOOPS_IV),
        Candidate(family="IV+", normalize=normalize),
    ]


def distinct_normalizations(x: Tensor) -> tuple[str, ...]:
    """Return the row normalisations that differ on X: without negative entries, signed sums are L1 norms."""
    kinds = NORMALIZATIONS if bool((x < 0).any()) else NORMALIZATIONS[:-1]
    return kinds if bool((x != 0).any()) else ("none",)


def anchors_are_affordable(x: Tensor) -> bool:
    """Whether IV+ may compare all pairs of nodes."""
    return len(x) ** 2 * x.shape[1] <= MOST_COMPARISONS


def edge_radii(plain: LinearOperator, edge_gram: LinearOperator) -> tuple[float, ...]:
    """Return the ε of III at which εΦ takes away the shares `SHARES_III` of the mean weight of an edge.

    Args:
        plain: Â.
        edge_gram: T of III at ε = 1.

    Returns:
        One ε per share; none if Φ is zero.
    """
    between = plain.pattern.rows != plain.pattern.cols
    weight = plain.values[between].abs().sum()
    phi = (plain.values - edge_gram.values)[between].abs().sum()
    if not bool(phi > 0):
        return ()
    return tuple(float(f"{share * float(weight / phi):.2g}") for share in SHARES_III)
