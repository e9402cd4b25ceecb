"""The whole series from file to file equals the one in memory, and its error bound holds."""

import numpy as np
import pytest
import torch

import gadc
from gadc import packed
from gadc.diffusion import normalize_rows, row_sums
from tests.packed.diffusion.test_diffuse import graph_of

CASES = [("plain", "sym"), ("I", "sym"), ("II", "sym"), ("III", "sym"), ("IV+", "sym")]
CASES += [("plain", "rw"), ("II", "rw"), ("III", "rw"), ("IV+", "rw")]


def exact(data, *, normalize="none", **settings):
    """Solve (I + λ (I - T)) F = X in memory, dense, in float64."""
    x, lam = normalize_rows(data.x, normalize), settings.pop("lam")
    T = gadc.transition(x, data.edge_index, data.get("edge_weight"), **settings).to_dense().double()
    return torch.linalg.solve((1 + lam) * torch.eye(len(x), dtype=torch.float64) - lam * T, x.double())


@pytest.mark.parametrize(("variant", "norm"), CASES)
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_whole_series_equals_the_one_in_memory(tmp_path, variant, norm, directed):
    data = graph_of(weighted=True, directed=directed)
    settings = {"variant": variant, "norm": norm, "eps": 0.05, "lam": 0.5 if directed else 6.0}
    if (directed and norm == "sym") or (variant, norm) == ("II", "rw"):
        settings["lam"] = 0.2  # the bound needs λ/(λ+1) ‖T‖_∞ < 1
    place = packed.pack_data(data, tmp_path / "graph", directed=directed, width=3, num_ranges=4)
    memory = len(data.x) * 4 * 5 * 2  # two columns at a time
    found = packed.diffuse(place, tmp_path / "run", num_steps=None, rtol=1e-5, memory=memory, **settings)
    expected = exact(data, directed=directed, **settings)
    error = torch.from_numpy(found.rows()).double() - expected
    symmetric = norm == "sym" and not directed
    assert float(error.norm() if symmetric else error.abs().max()) <= found.error_bound
    assert found.error_bound <= 2e-5 * float(expected.norm())
    in_memory = gadc.diffuse(
        data.x.double(),
        data.edge_index,
        data.edge_weight.double(),
        directed=directed,
        num_steps=None,
        rtol=1e-10,
        **settings,
    )
    assert float((torch.from_numpy(found.rows()) - in_memory).norm()) <= 2e-5 * float(in_memory.norm())


def test_whole_series_has_the_default_error_and_row_sums(tmp_path):
    data = graph_of()
    place = packed.pack_data(data, tmp_path / "graph", width=3)
    settings = {"variant": "III", "lam": 32.0, "eps": 0.05, "normalize": "l2"}
    found = packed.diffuse(place, tmp_path / "run", num_steps=None, sums=True, **settings)
    expected = exact(data, **settings)
    assert float((torch.from_numpy(found.rows()) - expected).norm()) <= found.error_bound
    assert found.error_bound <= 1e-3 * float(expected.norm())
    operator = gadc.transition(normalize_rows(data.x, "l2"), data.edge_index, variant="III", eps=0.05)
    np.testing.assert_allclose(found.row_sums(), row_sums(operator, lam=32.0, num_steps=2000), rtol=1e-2)


def test_whole_series_that_diverges_is_refused_before_the_hops(tmp_path):
    place = packed.pack_data(graph_of(), tmp_path / "graph")
    with pytest.raises(ValueError, match=r"must be below 1 for the series to converge, got .*task spectrum"):
        packed.diffuse(place, tmp_path / "run", variant="IV", num_steps=None)
    assert not (tmp_path / "run" / "f").exists()


def test_whole_series_resumes_with_the_missing_note(tmp_path):
    place = packed.pack_data(graph_of(), tmp_path / "graph", width=3)
    settings = {"variant": "plain", "lam": 4.0, "num_steps": None}
    first = packed.diffuse(place, tmp_path / "run", **settings)
    bound, rows = first.error_bound, first.rows()
    (tmp_path / "run" / "f" / "slab-0001.json").unlink()
    again = packed.diffuse(place, tmp_path / "run", **settings)
    assert (again.error_bound, again.rows().tolist()) == (bound, rows.tolist())
    assert packed.diffuse(place, tmp_path / "other", variant="plain").error_bound is None
