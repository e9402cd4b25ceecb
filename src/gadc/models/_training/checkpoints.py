"""Training that goes on where it was cut off, to the same result.

Within `resumable(path)` the state of a training is stored once a minute: weights, optimiser, model selection
and random numbers. The next training under the same path takes it up. A file that does not fit (another
module, damaged) is passed over; when the block ends well it is removed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from gadc._base import persistence

KIND = "training"
SECONDS = 60.0  # between two states; of a kill, no more work is lost


@dataclass
class Progress:
    """How far a training is.

    Attributes:
        figures: Numbers and lists of numbers that it carries from epoch to epoch.
        best: The weights chosen so far.
        random: State of torch's generator.
    """

    figures: dict[str, Any]
    best: dict[str, Tensor]
    random: Tensor


class Checkpoint:
    """The place of one training among those of a block.

    Args:
        path: The file of the block.
        number: How many trainings came before this one.
    """

    def __init__(self, path: Path, number: int) -> None:
        self.path, self.number = path, number
        self.stored = time.monotonic()
        self.repeated = False  # done before the interruption: a later training has the file

    def due(self) -> bool:
        """Whether it is time to store the state."""
        return not self.repeated and time.monotonic() - self.stored >= SECONDS

    def save(self, module: nn.Module, optimizer: torch.optim.Optimizer, progress: Progress) -> None:
        """Store the state, in place of the one before."""
        moments = {
            f"{index}.{name}": value
            for index, one in optimizer.state_dict()["state"].items()
            for name, value in one.items()
        }
        parts = {"module": module.state_dict(), "best": progress.best, "optimizer": moments}
        arrays = {f"{part}/{name}": value for part, named in parts.items() for name, value in named.items()}
        arrays["random"] = progress.random
        settings = {"number": self.number, "figures": progress.figures}
        found = {name: value.detach().cpu().numpy() for name, value in arrays.items()}
        with suppress(OSError):  # a full or read-only disk costs the state, not the training
            self.path.parent.mkdir(parents=True, exist_ok=True)
            persistence.write(self.path, KIND, settings, found)
        self.stored = time.monotonic()

    def restore(self, module: nn.Module, optimizer: torch.optim.Optimizer) -> Progress | None:
        """Bring both to the stored state of this training; None where there is none, and nothing changes."""
        if not self.path.exists():
            return None
        try:
            settings, arrays = persistence.read(self.path, KIND)
        except (OSError, ValueError):  # not readable, damaged, of another version: it starts anew
            return None
        parts: dict[str, dict[str, Tensor]] = {"module": {}, "best": {}, "optimizer": {}, "random": {}}
        for name, array in arrays.items():
            part, _, rest = name.partition("/")
            parts[part][rest] = torch.from_numpy(array)
        self.repeated = settings["number"] > self.number
        if settings["number"] != self.number or not _fits(module, parts["module"]):
            return None
        module.load_state_dict(parts["module"])
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in parts["optimizer"].items():
            index, _, moment = name.partition(".")
            state.setdefault(int(index), {})[moment] = value
        optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
        return Progress(settings["figures"], parts["best"], parts["random"][""])


def _fits(module: nn.Module, state: dict[str, Tensor]) -> bool:
    own = module.state_dict()
    return own.keys() == state.keys() and all(own[name].shape == state[name].shape for name in own)


@dataclass
class _Block:
    path: Path
    trainings: int = 0


_block: ContextVar[_Block | None] = ContextVar("gadc_checkpoints", default=None)


@contextmanager
def resumable(path: Path) -> Iterator[None]:
    """Within this block, trainings are stored at `path` and go on from there.

    Args:
        path: A safetensors file; another one for everything that another result could come of.
    """
    token = _block.set(_Block(path))
    try:
        yield
        with suppress(OSError):
            path.unlink()
    finally:
        _block.reset(token)


def next_checkpoint() -> Checkpoint | None:
    """The place of the training that begins now; None outside of `resumable`."""
    block = _block.get()
    if block is None:
        return None
    block.trainings += 1
    return Checkpoint(block.path, block.trainings - 1)
