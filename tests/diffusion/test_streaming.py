"""Diffusion from disk to disk: the same answer in any memory, and after any interruption."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from gadc.diffusion import VARIANTS, converged, diffuse_on_disk, neumann, polynomial, transition
from tests.helpers.graphs import random_graph

THETA = neumann(4.0, 6)


@pytest.fixture(params=VARIANTS)
def work(request, tmp_path):
    graph = random_graph(40, 90, 11)
    features = graph.x.float()
    np.save(tmp_path / "x.npy", features.numpy())
    x = np.load(tmp_path / "x.npy", mmap_mode="r")
    operator = transition(features, graph.edge_index, variant=request.param)
    return operator, x, tmp_path / "f.npy", polynomial(operator, features, THETA).numpy()


def _memory(x, columns: int) -> int:
    return len(x) * x.dtype.itemsize * 5 * columns


@pytest.mark.parametrize("columns", [1, 4, 11, 100])
def test_diffuse_on_disk_gives_the_same_in_any_memory(work, columns):
    operator, x, out, whole = work
    seen = []
    result = diffuse_on_disk(
        operator, x, THETA, out, memory=_memory(x, columns), progress=lambda *done: seen.append(done)
    )
    np.testing.assert_allclose(result, whole, rtol=1e-5, atol=1e-6)
    assert seen[-1] == (11, 11)
    assert len(seen) == -(-11 // columns)
    assert sorted(path.name for path in out.parent.iterdir()) == ["f.npy", "x.npy"]


def test_diffuse_on_disk_keeps_a_stated_error(work):
    operator, x, out, whole = work
    result = diffuse_on_disk(operator, x, THETA, out, memory=_memory(x, 3), rtol=1e-3)
    assert np.linalg.norm(result - whole) <= 1e-3 * np.linalg.norm(whole)


class _StopError(Exception):
    pass


def _interrupt(operator, x, out):
    def stop(done, total):
        if done >= 6:
            raise _StopError

    with pytest.raises(_StopError):
        diffuse_on_disk(operator, x, THETA, out, memory=_memory(x, 2), progress=stop)
    assert not out.exists()


def test_diffuse_on_disk_resumes_an_interrupted_call(work):
    operator, x, out, whole = work
    _interrupt(operator, x, out)
    seen = []
    result = diffuse_on_disk(
        operator, x, THETA, out, memory=_memory(x, 2), progress=lambda done, _: seen.append(done)
    )
    assert seen == [8, 10, 11]
    np.testing.assert_allclose(result, whole, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("change", ["theta", "values", "features", "note"])
def test_diffuse_on_disk_does_not_resume_other_work(work, change):
    operator, x, out, _ = work
    _interrupt(operator, x, out)
    theta = neumann(2.0, 6) if change == "theta" else THETA
    if change == "values":
        operator = operator * 0.5
    if change == "features":
        x = np.array(x) + 1
    if change == "note":
        out.with_name("f.npy.note").write_text("{")
    result = diffuse_on_disk(operator, x, theta, out, memory=_memory(x, 2))
    expected = polynomial(operator, torch.from_numpy(np.array(x)), theta).numpy()
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


def test_diffuse_on_disk_refuses_bad_input(work):
    operator, x, out, _ = work
    with pytest.raises(ValueError, match="memory must be bytes or text such as \"8GB\", got '8 gigs'"):
        diffuse_on_disk(operator, x, THETA, out, memory="8 gigs")
    with pytest.raises(ValueError, match=r"memory must be at least .* for one column of 40 rows"):
        diffuse_on_disk(operator, x, THETA, out, memory=100)
    with pytest.raises(ValueError, match=r"x must have 40 rows and at least one column, got \(39, 11\)"):
        diffuse_on_disk(operator, x[1:], THETA, out)
    with pytest.raises(ValueError, match=r"x must be torch\.float32 .* or float16, got float64"):
        diffuse_on_disk(operator, np.array(x, dtype=np.float64), THETA, out)


@pytest.mark.parametrize(("text", "width"), [("0.8KB", 1), ("1600B", 2), ("0.0024mb", 3)])
def test_diffuse_on_disk_reads_memory_in_units(work, text, width):
    operator, x, out, _ = work
    seen = []
    diffuse_on_disk(operator, x, THETA, out, memory=text, progress=lambda done, _: seen.append(done))
    assert seen[0] == width


def test_diffuse_on_disk_rounds_half_precision_once(work):
    operator, x, out, _ = work
    half = np.array(x, dtype=np.float16)
    result = diffuse_on_disk(operator, half, THETA, out, memory=_memory(x, 3))
    assert result.dtype == np.float16
    whole = polynomial(operator, torch.from_numpy(half).float(), THETA).numpy()
    np.testing.assert_allclose(result, whole, rtol=2**-11, atol=1e-6)


def test_diffuse_on_disk_refuses_what_half_precision_cannot_hold(work):
    operator, x, out, _ = work
    huge = np.full(x.shape, 6e4, dtype=np.float16)
    with pytest.raises(ValueError, match=r"results must lie within ±65504 to be stored as float16, got"):
        diffuse_on_disk(operator * 4.0, huge, THETA, out)
    assert not out.exists()


HOLDER = """
import sys, time
import numpy as np, torch
from gadc.diffusion import diffuse_on_disk, neumann, transition
torch.set_num_threads(1)
folder, edges = sys.argv[1], torch.load(sys.argv[1] + "/edges.pt")
x = np.load(folder + "/x.npy", mmap_mode="r")
operator = transition(torch.from_numpy(np.array(x)), edges, variant="plain")
def hold(done, total):
    if done >= 4:
        print("holding", flush=True)
        time.sleep(600)
diffuse_on_disk(operator, x, neumann(4.0, 6), folder + "/f.npy", memory=40 * 4 * 5 * 2, progress=hold)
"""


@pytest.mark.slow
def test_diffuse_on_disk_refuses_a_second_process_and_resumes_after_kill_9(tmp_path):
    graph = random_graph(40, 90, 11)
    features = graph.x.float()
    np.save(tmp_path / "x.npy", features.numpy())
    torch.save(graph.edge_index, tmp_path / "edges.pt")
    x, out = np.load(tmp_path / "x.npy", mmap_mode="r"), tmp_path / "f.npy"
    operator = transition(features, graph.edge_index, variant="plain")
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline().strip() == "holding"
        with pytest.raises(
            BlockingIOError, match=rf"f.npy is being written by process {process.pid} .*same work"
        ):
            diffuse_on_disk(operator, x, THETA, out)
        with pytest.raises(BlockingIOError, match=r"does other work: 40 x 11 float32, 6 steps, checksum"):
            diffuse_on_disk(operator, x, neumann(2.0, 6), out)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    seen = []
    result = diffuse_on_disk(
        operator, x, THETA, out, memory=_memory(x, 2), progress=lambda done, _: seen.append(done)
    )
    assert seen == [6, 8, 10, 11]
    np.testing.assert_allclose(result, polynomial(operator, features, THETA), rtol=1e-5, atol=1e-6)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.pt", "f.npy", "x.npy"]


def test_diffuse_on_disk_takes_its_space_on_disk_before_it_computes(work, monkeypatch):
    operator, x, out, _ = work

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full)
    with pytest.raises(OSError, match="No space left"):
        diffuse_on_disk(operator, x, THETA, out)
    assert sorted(path.name for path in out.parent.iterdir()) == ["x.npy"]


def test_diffuse_on_disk_refuses_a_result_that_overflowed(work):
    operator, x, out, _ = work
    with pytest.raises(ValueError, match=r"diffuse_on_disk: Σ_k θ_k T\^k x must be finite"):
        diffuse_on_disk(operator * 1e38, x, THETA, out)
    assert not out.exists()


@pytest.mark.parametrize("variant", ["plain", "II", "III"])
def test_diffuse_on_disk_with_an_executor_gives_the_same_result(tmp_path, variant):
    generator = torch.Generator().manual_seed(0)
    x = torch.rand((60, 70), generator=generator)
    edges = torch.randint(60, (2, 200), generator=generator)
    operator, theta = transition(x, edges, variant=variant), neumann(2.0, 5)
    expected = diffuse_on_disk(operator, x.numpy(), theta, tmp_path / "alone.npy")
    seen = []
    with ThreadPoolExecutor(2) as executor:
        found = diffuse_on_disk(
            operator,
            x.numpy(),
            theta,
            tmp_path / "together.npy",
            executor=executor,
            progress=lambda *state: seen.append(state),
        )
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert seen == [(32, 70), (64, 70), (70, 70)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alone.npy", "together.npy"]


@pytest.mark.parametrize("together", [False, True], ids=["alone", "executor"])
def test_diffuse_on_disk_sums_the_whole_series(tmp_path, together):
    graph = random_graph(40, 90, 11)
    operator = transition(graph.x, graph.edge_index, variant="III", eps=0.05)
    expected = converged(operator, graph.x, 4.0, 1e-10).features.numpy()
    how = {"memory": _memory(graph.x.numpy(), 4), "lam": 4.0, "rtol": 1e-8}
    with ThreadPoolExecutor(2) as executor:
        how["executor"] = executor if together else None
        found = diffuse_on_disk(operator, graph.x.numpy(), None, tmp_path / "f.npy", **how)
    assert np.linalg.norm(found - expected) <= 2e-8 * np.linalg.norm(expected)


def test_diffuse_on_disk_refuses_a_strength_beside_coefficients(tmp_path):
    graph = random_graph(5, 6, 2)
    operator, x = transition(graph.x, graph.edge_index, variant="plain"), graph.x.numpy()
    for theta, lam in ((THETA, 4.0), (None, None)):
        with pytest.raises(ValueError, match="lam must be given with theta=None, and only then"):
            diffuse_on_disk(operator, x, theta, tmp_path / "f.npy", lam=lam)
