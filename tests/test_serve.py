"""The server of examples/serve.py answers over HTTP as the model does."""

import runpy
import threading
import time

import numpy as np
import pytest
import torch

from gadc import GADCClassifier, diffuse
from tests.helpers.paths import ROOT

SETTINGS = {"variant": "II", "lam": 2.0, "num_steps": 2}


@pytest.fixture
def served():
    """A model of 20 nodes behind a real server on a free port."""
    # Imported here: these packages are slow to import, and this file is collected by every process.
    httpx, uvicorn, _ = (
        pytest.importorskip(name, reason=f"{name} is not installed: gadc[serve]")
        for name in ("httpx", "uvicorn", "fastapi")
    )
    x = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    ring = np.roll(np.eye(20), 1, 1)
    model = GADCClassifier(ring, **SETTINGS, epochs=5, random_state=0).fit(x, np.where(x[:, 0] > 0, "a", "b"))
    features = diffuse(torch.from_numpy(x), model.graph_.edge_index, **SETTINGS)
    make_app = runpy.run_path(str(ROOT / "examples" / "serve.py"))["make_app"]
    app = make_app(model, features, [f"p/{i}" if i == 3 else f"p{i}" for i in range(20)])
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
        yield client, model, x
    server.should_exit = True
    thread.join(timeout=10)


def test_the_server_answers_as_the_model_and_refuses_unknown_nodes(served):
    client, model, x = served
    assert client.get("/health").json() == {"nodes": 20, "classes": ["a", "b"]}
    answer = client.get("/nodes/p7").json()
    expected = model.predict_proba(x)[7]
    assert np.allclose([answer["probabilities"][name] for name in "ab"], expected, atol=1e-5)
    assert answer["class"] == model.predict(x)[7]
    assert client.get("/nodes/lost").status_code == 404
    assert client.get("/nodes/..%2F..%2Fetc%2Fpasswd").status_code == 404
