"""Checkpoints: a run that was killed resumes its training and ends with the same result, bit for bit.

Once a minute the state of the current training is stored: weights, optimiser, model selection and torch's
random numbers. The next attempt at the same run restores it. A file that does not fit (damaged, or of another
training) is ignored and overwritten.
"""

from __future__ import annotations

import hashlib
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from gadc._base import persistence
from gadc.models._training.callbacks import Callback, TrainingState

KIND = "training"
SECONDS = 60.0  # between two stored states; a kill loses no more work than this

Stored = tuple[dict[str, Any], dict[str, dict[str, Tensor]]]  # settings, and tensors by part and name


class Checkpoints(Callback):
    """Store the trainings of one run in a file, and resume the one that was interrupted.

    A run may train several models. Only one training is stored at a time: the trainings before it are
    repeated, and the file is left alone until its own training starts.

    Args:
        path: The safetensors file. Runs that could end differently need different files.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0  # of resumable trainings so far
        self.active = False  # whether the current training is stored

    def on_start(self, state: TrainingState) -> None:
        """Restore the training if the file holds a state of it."""
        self.active = state.resumable
        if not state.resumable:
            return
        self.number, self.start, self.stored = self.count, _digest(state.module), time.monotonic()
        self.count += 1
        found = self._read()
        if found is None:
            return
        settings, tensors = found
        self.active = settings["number"] <= self.number
        if (settings["number"], settings["start"]) == (self.number, self.start):
            _restore(state, settings, tensors)

    def on_epoch(self, state: TrainingState) -> None:
        """Store the state if the last one is old enough."""
        if self.active and time.monotonic() - self.stored >= SECONDS:
            self.save(state)

    def save(self, state: TrainingState) -> None:
        """Replace the stored state by the current one."""
        settings = {
            "number": self.number,
            "start": self.start,
            "figures": state.selection.figures,
            "train_losses": state.train_losses,
        }
        arrays = {name: value.detach().cpu().numpy() for name, value in _tensors(state).items()}
        with suppress(OSError):  # a full or read-only disk costs the checkpoint, not the training
            self.path.parent.mkdir(parents=True, exist_ok=True)
            persistence.write(self.path, KIND, settings, arrays)
        self.stored = time.monotonic()

    def remove(self) -> None:
        """Delete the file; to be called when the run has ended well."""
        with suppress(OSError):
            self.path.unlink()

    def _read(self) -> Stored | None:
        """Return the stored settings and tensors; None if there is no readable file."""
        if not self.path.exists():
            return None
        try:
            settings, arrays = persistence.read(self.path, KIND)
        except (OSError, ValueError):
            return None
        parts: dict[str, dict[str, Tensor]] = {"module": {}, "best": {}, "optimizer": {}, "random": {}}
        for name, array in arrays.items():
            part, _, rest = name.partition("/")
            parts[part][rest] = torch.from_numpy(array)
        return settings, parts


def _digest(module: nn.Module) -> str:
    """Hash the names, shapes and initial values of a module's state, which tell trainings apart."""
    digest = hashlib.sha256()
    for name, value in module.state_dict().items():
        digest.update(f"{name} {tuple(value.shape)} ".encode())
        digest.update(value.detach().cpu().contiguous().numpy())
    return digest.hexdigest()


def _tensors(state: TrainingState) -> dict[str, Tensor]:
    """Return every tensor of a training under the name `part/name`."""
    moments = {
        f"{index}.{name}": value
        for index, one in state.optimizer.state_dict()["state"].items()
        for name, value in one.items()
    }
    parts = {"module": state.module.state_dict(), "best": state.selection.weights, "optimizer": moments}
    tensors = {f"{part}/{name}": value for part, named in parts.items() for name, value in named.items()}
    return tensors | {"random": torch.get_rng_state()}


def _restore(state: TrainingState, settings: dict[str, Any], tensors: dict[str, dict[str, Tensor]]) -> None:
    """Bring a training that has just started, and torch's random numbers, to the stored state."""
    state.module.load_state_dict(tensors["module"])
    moments: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors["optimizer"].items():
        index, _, moment = name.partition(".")
        moments.setdefault(int(index), {})[moment] = value
    groups = state.optimizer.state_dict()["param_groups"]
    state.optimizer.load_state_dict({"state": moments, "param_groups": groups})
    state.selection.restore(settings["figures"], tensors["best"])
    state.train_losses[:] = settings["train_losses"]
    torch.set_rng_state(tensors["random"][""])
