"""Draw T of every variant on one small graph, for the page on the variants.

python -m docs.pictures.variants
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
from torch import Tensor

from gadc.diffusion import AnchoredCosine, CosineGraph, EdgeCosine, EdgeGram, GlobalGram, Plain

FOLDER = Path(__file__).parents[1] / "explanation" / "images"
VARIANTS = {
    "plain": Plain(),
    "i": EdgeCosine(eps=0.5),
    "ii": GlobalGram(eps=1.0),
    "iii": EdgeGram(eps=1.0),
    "iv": CosineGraph(),
    "iv-plus": AnchoredCosine(neighbors=2),
}
POSITIONS = [(0.0, 0.0), (0.9, -0.3), (1.0, 0.7), (0.1, 0.9), (3.0, 0.0), (2.1, -0.3), (2.0, 0.7), (2.9, 0.9)]
EDGES = [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2), (4, 5), (5, 6), (6, 7), (4, 7), (4, 6), (2, 6)]
FALSE, NOISY = (2, 6), 5
# Two features per node: the groups differ in direction, and one node points between them.
ANGLES = torch.deg2rad(torch.tensor([5.0, 20.0, 12.0, 0.0, 85.0, 35.0, 98.0, 90.0]))


def draw(transition: Tensor, path: Path) -> None:
    """Draw the nodes and a line for every entry of T off the diagonal."""
    figure, axes = plt.subplots(figsize=(4.4, 1.9))
    largest = transition.fill_diagonal_(0).abs().max()
    for i in range(len(POSITIONS)):
        for j in range(i):
            weight = float((transition[i, j] + transition[j, i]) / 2 / largest)
            _line(axes, i, j, weight)
    shades = plt.get_cmap("viridis")(ANGLES.numpy() / float(ANGLES.max()))
    rings = ["#e66100" if node == NOISY else "#888888" for node in range(len(POSITIONS))]
    x, y = zip(*POSITIONS, strict=True)
    axes.scatter(x, y, s=190, c=shades, edgecolors=rings, linewidths=2, zorder=3)
    axes.set(xlim=(-0.4, 3.4), ylim=(-0.65, 1.25), aspect="equal")
    axes.axis("off")
    figure.savefig(path, transparent=True, bbox_inches="tight", pad_inches=0, metadata={"Date": None})
    plt.close(figure)


def _line(axes: plt.Axes, i: int, j: int, weight: float) -> None:
    ends = list(zip(POSITIONS[i], POSITIONS[j], strict=True))
    if abs(weight) > 0.02:
        axes.plot(*ends, color="#3d85c6" if weight > 0 else "#d64545", linewidth=5 * abs(weight), zorder=1)
    elif (j, i) in EDGES:
        axes.plot(*ends, color="#888888", linewidth=1, linestyle=":", zorder=1)


def main() -> None:
    """Write one drawing per variant."""
    plt.rcParams["svg.hashsalt"] = "gadc"  # the same file in every run
    FOLDER.mkdir(exist_ok=True)
    features = torch.stack([ANGLES.cos(), ANGLES.sin()], dim=1)
    edges = torch.tensor(EDGES).T
    both = torch.cat([edges, edges.flip(0)], dim=1)
    for name, variant in VARIANTS.items():
        draw(variant(features, both).to_dense(), FOLDER / f"variant-{name}.svg")


if __name__ == "__main__":
    main()
