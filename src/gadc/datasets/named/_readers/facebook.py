"""Facebook100 format (Traud et al., 2012): a Matlab file with adjacency `A` and the table `local_info`."""

from io import BytesIO

import numpy as np
from scipy import io, sparse

from gadc.datasets.named._raw_graph import RawGraph


def read(content: bytes) -> RawGraph:
    """Read a graph whose classes are the gender and whose features are the other columns, one-hot encoded.

    This is the task of Lim et al. (2021). Gender is column 2; 0 means missing.
    """
    matrix = io.loadmat(BytesIO(content))  # type: ignore[arg-type]  # an open file is accepted
    table = matrix["local_info"].astype(np.int64)
    blocks = [_one_hot(table[:, column]) for column in (0, 2, 3, 4, 5, 6)]
    return RawGraph(
        edges=np.stack(matrix["A"].nonzero()).astype(np.int64),
        y=table[:, 1] - 1,
        x=sparse.csr_array(sparse.hstack(blocks)),
    )


def _one_hot(column: np.ndarray) -> sparse.csr_array:
    values, codes = np.unique(column, return_inverse=True)
    ones = np.ones(len(column), dtype=np.float32)
    return sparse.csr_array((ones, (np.arange(len(column)), codes)), shape=(len(column), len(values)))
