"""Denoise handwritten digits.

Each image of scikit-learn's digits is joined with its 10 nearest images, and its pixels get Gaussian noise
of standard deviation 1; the clean pixels lie in [0, 1]. Diffusion averages every image with the images
around it. The graph is taken as known, as in the paper, and λ = 16, K = 8 are an illustration.

The edges are right here, so there is nothing to distrust: plain diffusion (ε = 0) and GADC (III) give the
same pictures. The classifier is a logistic regression on 20 labelled images per class.

Finding: noisy pixels give 26.0 % test accuracy, plain diffusion 95.5 %, GADC (III) 95.4 %.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from sklearn.linear_model import LogisticRegression

import gadc
from gadc.datasets import digits

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))


def accuracy(features):
    """Return the test accuracy in percent of a logistic regression on the training images."""
    scaled = ((features - features.mean(0)) / features.std(0)).numpy()
    model = LogisticRegression(C=0.1).fit(scaled[data.train_mask], data.y[data.train_mask])
    return 100 * model.score(scaled[data.test_mask], data.y[data.test_mask])


data = digits(seed=0)
noisy = data.x + torch.randn(data.x.shape, generator=torch.Generator().manual_seed(0))
rows = {"clean": data.x, "noisy": noisy}
for name, variant in {"plain (ε = 0)": "plain", "GADC (III)": "III"}.items():
    rows[name] = gadc.diffuse(noisy, data.edge_index, variant=variant, lam=16.0, num_steps=8)
scores = {name: accuracy(features) for name, features in rows.items() if name != "clean"}

shown = [int((data.y == digit).nonzero()[0]) for digit in range(10)]
figure, axes = plt.subplots(len(rows), 1, figsize=(6.4, 3.6))
for axis, (name, features) in zip(axes, rows.items(), strict=True):
    strip = torch.cat([features[i].view(8, 8) for i in shown], dim=1)
    low, high = strip.flatten().quantile(torch.tensor([0.1, 0.99]))
    axis.imshow(strip.numpy(), cmap="gray_r", vmin=float(low), vmax=float(high))
    axis.set(xticks=[], yticks=[])
    axis.grid(False)
    label = f"{name}\n{scores[name]:.1f} % correct" if name in scores else name
    axis.set_ylabel(label, rotation=0, ha="right", va="center")
    axis.spines[:].set_visible(False)
figure.suptitle("The neighbours of an image take away its noise")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "denoise_digits.png")

noise, plain, third = scores.values()
print(
    f"noisy pixels give {noise:.1f} % test accuracy, plain diffusion {plain:.1f} %, GADC (III) {third:.1f} %."
)
