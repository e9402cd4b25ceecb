"""The unpickler loads Planetoid files and refuses everything else."""

import pickle
from collections import defaultdict

import numpy as np
import pytest
from scipy import sparse

from gadc.datasets.named._readers.unpickle import loads
from tests.helpers.planetoid import old_pickle


def test_unpickler_loads_arrays_matrices_and_dictionaries():
    matrix = sparse.csr_matrix(np.array([[0.0, 2.0], [3.0, 0.0]], dtype=np.float32))
    labels = np.eye(3, dtype=np.int32)
    graph = defaultdict(list, {0: [1, 1], 1: [0]})
    assert (loads(old_pickle(matrix)).toarray() == matrix.toarray()).all()
    assert (loads(old_pickle(labels)) == labels).all()
    assert loads(old_pickle(graph)) == graph


class _Writes:
    """An object whose pickle writes a file when an ordinary unpickler loads it."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return open, (str(self.file), "w")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_malicious_pickle_is_not_executed(tmp_path, protocol):
    file = tmp_path / "written"
    content = pickle.dumps([np.ones(2), _Writes(file)], protocol=protocol)
    with pytest.raises(pickle.UnpicklingError, match="nothing was run"):
        loads(old_pickle_names(content))
    assert not file.exists()
    pickle.loads(content).pop().close()
    assert file.exists(), "the pickle does no harm, so the test proves nothing"


def old_pickle_names(content: bytes) -> bytes:
    """Rename the module of the array in front, so that the unpickler refuses the file and not the array."""
    return content.replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n")


@pytest.mark.parametrize(
    "name", ["os.system", "builtins.eval", "builtins.getattr", "numpy.load", "numpy.core.multiarray.scalar"]
)
def test_unpickler_refuses_other_names(name):
    module, _, attribute = name.rpartition(".")
    content = f"c{module}\n{attribute}\n.".encode()
    with pytest.raises(pickle.UnpicklingError, match=name.replace(".", r"\.")):
        loads(content)


def test_unpickler_refuses_other_content():
    with pytest.raises((pickle.UnpicklingError, EOFError, ValueError)):
        loads(b"<html>404</html>")
