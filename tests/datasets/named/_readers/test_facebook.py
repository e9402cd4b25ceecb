"""The facebook reader on files made here; `test_named.py` reads the published files."""

import io

import numpy as np
import scipy.io
from scipy import sparse

from gadc.datasets.named._readers import facebook


def test_facebook_labels_are_genders_and_features_the_other_columns():
    table = np.array([[1, 2, 0, 0, 0, 2004, 7], [2, 0, 0, 0, 0, 2005, 8], [1, 1, 0, 0, 0, 2004, 9]])
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, {"A": sparse.csc_matrix(np.eye(3)[[1, 0, 2]]), "local_info": table.astype("u2")})
    graph = facebook.read(buffer.getvalue())
    assert graph.y.tolist() == [1, -1, 0]
    assert graph.x.shape == (3, 2 + 1 + 1 + 1 + 2 + 3)
    assert (graph.x.sum(axis=1) == 6).all()
