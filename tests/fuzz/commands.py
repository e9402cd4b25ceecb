"""Random command lines: none may end in a traceback, never return, or write a number that is not finite.

    python -m tests.fuzz.commands --commands 20000

Each command line is drawn from a seed of its own, which is printed if it fails; `--first SEED --commands 1`
repeats it. Commands run in a worker process, which is replaced when it dies or takes longer than a minute.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shlex
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gadc.cli import main as run_gadc
from tests.fuzz.command_files import fit_models
from tests.fuzz.command_words import draw_words

SECONDS = 60.0  # after which a command counts as one that never returns
_MEMORY = "2GB"
_OURS = ("cosine", "weight_before", "weight_after", "score", "probability", "effect_source", "effect_target")


Outcome = tuple[str, str, str | None]  # the command line, how it ended, and what is wrong or None


def try_command(seed: int, models: list[Path]) -> Outcome:
    """Run the command line of a seed."""
    rng = random.Random(seed)  # noqa: S311  not for secrets
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = draw_words(rng, folder, models)  # an error in here is one of the fuzzer
        out, err, ended = StringIO(), StringIO(), "raised"
        try:
            with redirect_stdout(out), redirect_stderr(err):
                run_gadc(words)
            wrong: str | None = "returned without an exit code"
        except SystemExit as stop:
            ended = f"{words[0]} {stop.code}"
            wrong = _judge(words, stop.code, out.getvalue(), err.getvalue(), folder)
        except BaseException as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            wrong = f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno}: {error}"[:300]
        return shlex.join(words), ended, wrong


def _judge(words: list[str], code: Any, out: str, err: str, folder: Path) -> str | None:
    if code not in (0, 1, 2):
        return f"exit code {code!r}"
    if "Traceback" in err:
        return "a traceback on standard error"
    if code == 2 and not err.strip():
        return "exit code 2 without a reason"
    if code == 0 and "--json" in words:
        try:
            json.loads(out, parse_constant=_refuse)
        except ValueError as error:
            return f"standard output is not JSON: {error}"
    return next((f"{path.name}: {wrong}" for path, wrong in _findings(folder, words, code) if wrong), None)


def _refuse(name: str) -> None:
    raise ValueError(f"it holds {name}")


def _findings(folder: Path, words: list[str], code: int) -> Iterator[tuple[Path, str | None]]:
    """Yield what is wrong with the files that a command wrote."""
    for path in folder.iterdir():
        if path.name.endswith(".gadc-tmp"):
            yield path, "is a temporary that was left behind"
        if path.stem != "out" or path.is_dir():
            continue
        if code == 2:
            yield path, "was written by a command that was refused"
        readers = {".csv": pl.read_csv, ".parquet": pl.read_parquet, ".feather": pl.read_ipc}
        if path.suffix in readers:
            frame = readers[path.suffix](path)
            checked = [name for name in frame.columns if words[0] != "edges" or name in _OURS]
            floats = frame.select(checked).select(pl.selectors.float()).to_numpy()
            if not np.isfinite(floats[~np.equal(floats, None)].astype(float)).all() and not _only_nulls(
                frame, floats
            ):
                yield path, "holds a number that is not finite"


def _only_nulls(frame: pl.DataFrame, floats: Any) -> bool:
    """Return whether each number that is not finite is an empty cell, which NumPy shows as NaN."""
    columns = frame.select(pl.selectors.float())
    broken = sum(
        int(columns[name].is_nan().sum() + columns[name].is_infinite().sum()) for name in columns.columns
    )
    return broken == 0


def _serve(pipe: Connection) -> None:
    """Run the command lines whose seeds come through a pipe."""
    os.environ |= {"GADC_MAX_MEMORY": _MEMORY, "COLUMNS": "80"}
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GADC_CACHE"] = folder
        models = fit_models(Path(folder))
        pipe.send("ready")
        while (seed := pipe.recv()) is not None:
            pipe.send(try_command(seed, models))


def processor_seconds(process: int | None) -> float:
    """Return the processor time of a process so far; the time of the clock where the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return time.monotonic()


class Worker:
    """A process that runs command lines, and is replaced when it dies or does not answer."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other,), daemon=True)
        self.process.start()
        other.close()
        self.pipe.recv()

    def run(self, seed: int) -> Outcome:
        """Run the command line of a seed."""
        self.pipe.send(seed)
        begun, spent = time.monotonic(), processor_seconds(self.process.pid)
        try:
            # On a busy machine a minute says little, so that only its own work counts, up to ten minutes.
            while time.monotonic() - begun < 10 * SECONDS:
                if self.pipe.poll(SECONDS):
                    answer: Outcome = self.pipe.recv()
                    return answer
                if processor_seconds(self.process.pid) - spent > SECONDS:
                    break
            wrong = f"did not return within {SECONDS:g} seconds"
        except EOFError:
            self.process.join()
            wrong = f"the process died with code {self.process.exitcode}"
        self.process.kill()
        self.process.join()
        self._start()
        return "(draw it again from its seed)", "lost", wrong

    def stop(self) -> None:
        """End the process."""
        self.pipe.send(None)
        self.process.join()


def main() -> int:
    """Try many command lines and print how many failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commands", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first command line")
    settings = parser.parse_args()
    worker, failed, started, endings = Worker(), 0, time.monotonic(), Counter[str]()
    for number in range(settings.commands):
        seed = settings.first + number
        words, ended, wrong = worker.run(seed)
        endings[ended] += 1
        if wrong is not None:
            failed += 1
            print(f"seed {seed}: {wrong}\n    gadc {words}", flush=True)
        if (number + 1) % 500 == 0:
            spent = time.monotonic() - started
            print(f"tried {number + 1}, failed {failed} ({spent:.0f} s)", file=sys.stderr, flush=True)
    worker.stop()
    print("exit codes:", ", ".join(f"{ended}: {count}" for ended, count in sorted(endings.items())))
    print(f"commands: tried {settings.commands}, failed {failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
