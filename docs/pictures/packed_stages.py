"""Draw the measured peak memory and seconds of every stage of packing and diffusing 20 million nodes.

python -m docs.pictures.packed_stages
"""

import json
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "tutorials" / "images" / "larger-than-memory.svg"
COLORS = {"pack": "#3d85c6", "diffuse": "#e69138"}


def main() -> None:
    """Read benchmarks/packed.json and write the picture."""
    measured = json.loads((ROOT / "benchmarks" / "packed.json").read_text(encoding="utf-8"))["large"]
    stages = [
        (step, one)
        for step in COLORS
        for one in measured[step]["stages"]
        if one["stage"] != "start" and one["seconds"] >= 1
    ]
    plt.rcParams["svg.hashsalt"] = "gadc"  # the same file in every run
    figure, axes = plt.subplots(1, 2, figsize=(8, 0.28 * len(stages) + 1), sharey=True)
    _bars(axes[0], stages, "peak_gb", "peak memory, GB")
    _bars(axes[1], stages, "seconds", "seconds")
    axes[0].invert_yaxis()
    handles = [plt.Rectangle((0, 0), 1, 1, color=color) for color in COLORS.values()]
    axes[1].legend(handles, list(COLORS), loc="upper right")
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})


def _bars(axes: plt.Axes, stages: list[tuple[str, dict[str, Any]]], key: str, label: str) -> None:
    names = [f"{step}: {one['stage']}" for step, one in stages]
    axes.barh(names, [one[key] for _, one in stages], color=[COLORS[step] for step, _ in stages])
    axes.set_xlabel(label)


if __name__ == "__main__":
    main()
