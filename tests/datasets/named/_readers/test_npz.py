"""The npz reader on files made here; `test_named.py` reads the published files."""

import io

import numpy as np
import pytest
from scipy import sparse

from gadc.datasets.named._readers import npz


def saved(**arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def saved_csr(adj, x=None, **arrays) -> bytes:
    for prefix, matrix in (("adj", adj), ("attr", x)):
        if matrix is not None:
            csr = sparse.csr_array(matrix)
            arrays |= {f"{prefix}_{part}": getattr(csr, part) for part in ("data", "indices", "indptr")}
            arrays[f"{prefix}_shape"] = np.array(csr.shape)
    return saved(**arrays)


def test_csr_form_is_read_without_its_pickled_members():
    adj = np.array([[0, 1], [0, 0]])
    names = np.array([{"any": "object"}], dtype=object)
    graph = npz.read_csr(saved_csr(adj, np.eye(2), labels=np.array([0, 1], dtype=np.int8), class_names=names))
    assert graph.edges.tolist() == [[0], [1]]
    assert (graph.x.dtype, graph.y.dtype) == (np.float32, np.int64)
    with pytest.raises(ValueError, match="allow_pickle"):
        npz.read_csr(saved_csr(adj, np.eye(2), labels=names))


def test_largest_component_keeps_the_order_of_the_nodes():
    adj = np.zeros((6, 6))
    adj[0, 4] = adj[5, 0] = adj[1, 2] = 1  # {0, 4, 5}, {1, 2}, {3}; listed in one direction only
    x = np.arange(12).reshape(6, 2)
    graph = npz.read_largest_component(saved_csr(adj, x, labels=np.arange(6)))
    assert graph.y.tolist() == [0, 4, 5]
    assert (graph.x.toarray() == x[[0, 4, 5]]).all()
    assert graph.edge_index.tolist() == [[0, 0, 1, 2], [1, 2, 0, 0]]
    assert (npz.read_largest_component(saved_csr(adj, labels=np.arange(6))).x.toarray() == np.eye(3)).all()


def test_heterophilous_form_is_read_with_its_splits():
    masks = np.array([[True, False, False], [False, True, False]])
    content = saved(
        edges=np.array([[0, 1], [1, 2]]),
        node_labels=np.array([0, 1, 1]),
        node_features=np.ones((3, 2)),
        train_masks=masks,
        val_masks=masks[:, [1, 2, 0]],
        test_masks=masks[:, [2, 0, 1]],
    )
    graph = npz.read_heterophilous(content)
    assert graph.splits["published"].tolist() == [[1, 3, 2], [2, 1, 3]]
    assert graph.edge_index.shape == (2, 4)
