"""A small dose of the fuzzers; `make fuzz` runs the full one."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from tests.fuzz import calls, library

SEEDS = range(10**6, 10**6 + 150)


def test_random_calls_are_finite_or_refused():
    faults = {seed: library.outcome(seed) for seed in SEEDS}
    assert {seed: found for seed, found in faults.items() if found[1] is not None} == {}


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda draws: torch.tensor([1.0, torch.nan]), "the result is not finite"),
        (lambda draws: [1.0, np.array([np.inf])], "the result is not finite"),
        (lambda draws: 1 / 0, "ZeroDivisionError: division by zero at"),
        (lambda draws: int("a"), "ValueError: invalid literal"),
        (lambda draws: torch.eye(2) @ torch.eye(3), "RuntimeError: mat1 and mat2"),
        (lambda draws: [0.0, torch.ones(2), None], None),
    ],
)
def test_outcome_finds_faults(monkeypatch, call, fault):
    monkeypatch.setattr(library, "CALLS", {"one": call})
    name, found = library.outcome(0)
    assert name == "one"
    assert found is None if fault is None else found.startswith(fault)


def test_refusals_in_words_of_the_library_are_no_faults(monkeypatch):
    monkeypatch.setattr(library, "CALLS", {"one": lambda draws: calls.gadc.diffuse(None, None)})
    assert library.outcome(0) == ("one", None)


HANGS = "import time; print('{}', flush=True); time.sleep(60)"
WORKS_ON = "import signal; signal.setitimer(signal.ITIMER_PROF, 0.01)\nwhile True: pass"


@pytest.mark.parametrize(
    ("program", "patience", "lines", "end"),
    [
        (HANGS, 2, [{}], "no result within 2 s"),
        (WORKS_ON, 60, [], "no result within 60 s"),
        ("exit(3)", 60, [], "the process ended with 3"),
    ],
)
def test_workers_that_hang_or_die_are_noticed(monkeypatch, program, patience, lines, end):
    real = subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda command, **rest: real([sys.executable, "-c", program], **rest)
    )
    monkeypatch.setattr(library, "PATIENCE", patience)
    worker = library._Worker(0, 1)
    assert [json.loads(line) for line in worker.lines()] == lines
    assert worker.end == end
