"""Progress on standard error, as a terminal shows it."""

import io
import warnings
from functools import partial

import pytest
from tqdm import tqdm

from gadc.cli._progress import counting, iterating, working


class Terminal(io.StringIO):
    """Text that claims to be a terminal."""

    def isatty(self):
        """Return True."""
        return True


@pytest.fixture
def terminal(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("gadc.cli._progress.tqdm", partial(tqdm, file=screen))
    return screen


def test_working_shows_the_work_and_clears_it(terminal):
    with working("Reading the graph"):
        assert "Reading the graph ..." in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")


def test_working_prints_each_warning_once(capsys):
    with working("Diffusing"):
        for message in ("divergent", "divergent", "slow"):
            warnings.warn(message, stacklevel=1)
        warnings.warn("of no interest", DeprecationWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: divergent\nwarning: slow\n"


def test_counting_counts_finished_steps(terminal):
    with counting(2) as begin:
        begin("one")
        assert "0/2" in terminal.getvalue().rpartition("one")[2]
        begin("two")
        assert "1/2" in terminal.getvalue().rpartition("two")[2]
    assert "2/2" in terminal.getvalue()


def test_iterating_shows_the_last_state(terminal):
    with iterating("Minimising") as tell:
        tell("gradient 3")
    assert "Minimising" in terminal.getvalue()


def test_no_progress_is_shown_without_a_terminal(capsys):
    with working("Reading"), counting(1) as begin, iterating("Minimising") as tell:
        begin("one")
        tell("state")
    assert capsys.readouterr() == ("", "")
