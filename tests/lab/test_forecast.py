"""Time and memory of a search, said before it starts."""

from types import SimpleNamespace

import numpy as np
import pytest

from gadc._base.memory import MemoryLimitError
from gadc.lab import KINDS
from gadc.lab._forecast import _COSTS, forecast


def _view(nodes, edges, columns):
    pairs, features = SimpleNamespace(shape=(2, edges)), SimpleNamespace(shape=(nodes, columns))
    return SimpleNamespace(pairs=pairs, num_nodes=nodes, features=features)


def test_every_kind_has_a_cost():
    assert _COSTS.keys() == KINDS.keys()


def test_small_graphs_get_no_forecast():
    assert forecast(_view(100, 299_999, 4), ["edge"]) is None


def test_forecast_is_near_the_measured_run():
    # 2 M edges of 200,000 nodes with 32 columns took 167 seconds of one core.
    said = forecast(_view(200_000, 2_000_000, 32), ["edge"])
    assert said == "2,000,000 edges: about 3 minutes of one core and 1.1 GB"


def test_kinds_and_edges_add_up():
    seconds = [_COSTS["edge"].seconds(m, 1000, 8) for m in (10**6, 2 * 10**6)]
    assert np.isclose(seconds[1], 2 * seconds[0])


def test_a_search_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setenv("GADC_MAX_MEMORY", "1GB")
    with pytest.raises(
        MemoryLimitError, match=r"Lab.find_issues: a search in 200,000 nodes and 3,000,000 edges"
    ):
        forecast(_view(200_000, 3_000_000, 32), ["edge"])
