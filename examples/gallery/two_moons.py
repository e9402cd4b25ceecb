"""The variants on two moons.

Two half circles; each point is joined with its 8 nearest points, and one edge in five is false and joins
random points. The features are the coordinates with noise. The figure shows the coordinates after diffusion
with λ = 8 and K = 8 by each variant, scaled to the same size.

Plain diffusion, II and III straighten the moons. I takes from the weight of edges between alike points, and
smooths less. IV weighs an edge by the angle between two points, which says little in two dimensions; it is
meant for features with many columns. The percentage is what the 5 nearest of 20 labelled points get right.

Finding: noisy points give 84 %, plain diffusion 88 %, GADC (III) 88 % and GADC (IV) 78 %.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import make_moons
from sklearn.neighbors import KNeighborsClassifier, kneighbors_graph
from torch_geometric.data import Data

import gadc
from gadc.transforms import EdgeAddition

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
SETTINGS = {"plain": 0.0, "I": 0.05, "II": 0.5, "III": 0.5, "IV": 1.0}

points, moon = make_moons(300, noise=0.05, random_state=0)
points = points - points.mean(0)
edges = torch.from_numpy(np.stack(kneighbors_graph(points, 8).nonzero())).long()
x = torch.tensor(points).float()
x = x + 0.3 * torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
graph = Data(x=x, edge_index=torch.cat([edges, edges.flip(0)], 1).unique(dim=1), y=torch.tensor(moon))
graph = EdgeAddition(rate=0.2, seed=0)(graph)

shapes = {"noisy points": x}
for variant, eps in SETTINGS.items():
    F = gadc.diffuse(
        x, graph.edge_index, variant=variant, lam=8.0, num_steps=7, eps=eps, check_convergence=False
    )
    shapes["plain (ε = 0)" if variant == "plain" else f"GADC ({variant})"] = F

figure, axes = plt.subplots(2, 3, figsize=(6.4, 4.4))
scores = {}
for axis, (name, F) in zip(axes.flat, shapes.items(), strict=True):
    F = F / F.std()
    near = KNeighborsClassifier(5).fit(F[::15], moon[::15])
    scores[name] = 100 * near.score(F, moon)
    for which, marker in ((0, "o"), (1, "^")):
        axis.scatter(*F[moon == which].T, s=7, marker=marker, linewidths=0)
    axis.set(xticks=[], yticks=[], title=f"{name}: {scores[name]:.0f} %")
figure.suptitle("Two moons after diffusion by each variant")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "two_moons.png")
print(
    f"noisy points give {scores['noisy points']:.0f} %, plain diffusion {scores['plain (ε = 0)']:.0f} %, "
    f"GADC (III) {scores['GADC (III)']:.0f} % and GADC (IV) {scores['GADC (IV)']:.0f} %."
)
