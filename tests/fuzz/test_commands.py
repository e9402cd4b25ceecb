"""A small dose of `python -m tests.fuzz.commands`."""

import pytest

from tests.fuzz.command_files import fit_models
from tests.fuzz.commands import try_command

COUNT = 60


@pytest.mark.filterwarnings("ignore")
def test_random_command_lines_end_with_an_exit_code_and_finite_numbers(tmp_path, monkeypatch):
    monkeypatch.setenv("GADC_MAX_MEMORY", "2GB")
    monkeypatch.setenv("GADC_CACHE", str(tmp_path / "cache"))
    models = fit_models(tmp_path)
    failures = {}
    for seed in range(COUNT):
        words, _, wrong = try_command(seed, models)
        if wrong is not None:
            failures[seed] = (wrong, words)
    assert not failures
