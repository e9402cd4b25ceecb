"""Serve predictions over HTTP: look up S X of a node, and apply the head (extra gadc[serve]).

The slow part, S X, is computed once when the server starts; an answer takes one row and one small product.

    python examples/serve.py                  # prepares out/digits.safetensors
    python examples/serve.py --port 8000      # and serves it: GET /nodes/7, GET /health
"""

import argparse
from pathlib import Path

import torch
from fastapi import FastAPI, HTTPException

from gadc import GADCClassifier, diffuse
from gadc.datasets import digits

SETTINGS = {"variant": "II", "lam": 8.0, "num_steps": 8}


def make_app(model, features, ids):
    """Return the application for a fitted classifier, the rows S X and the ids of the nodes."""
    app = FastAPI(title="gadc")
    rows = {str(name): row for row, name in enumerate(ids)}

    @app.get("/health")
    def health():
        return {"nodes": len(rows), "classes": model.classes_.tolist()}

    @app.get("/nodes/{name}")
    def node(name: str):
        if name not in rows:
            raise HTTPException(404, f"the graph does not have a node {name!r}")
        with torch.no_grad():
            scores = model.head_(features[rows[name]][None] / model.scale_)[0]
        shares = {str(c): float(p) for c, p in zip(model.classes_, scores.softmax(0), strict=True)}
        best = max(shares, key=shares.get)
        return {"id": name, "class": best, "probability": shares[best], "probabilities": shares}

    return app


def main():
    """Fit a model, and serve it if a port is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int)
    port = parser.parse_args().port
    data, file = digits(), Path("out/digits.safetensors")
    file.parent.mkdir(exist_ok=True)
    GADCClassifier(**SETTINGS, epochs=50, random_state=0).fit_data(data).save(file)
    model = GADCClassifier.load(file)  # as a server would: no pickle, checked
    app = make_app(model, diffuse(data.x, data.edge_index, **SETTINGS), range(data.num_nodes))
    print(f"{file}: {data.num_nodes} nodes, held-out accuracy {model.validation_score_:.1%}")
    if port is not None:
        import uvicorn

        uvicorn.run(app, host="127.0.0.1", port=port)


if __name__ == "__main__":
    main()
