"""An unpickler for the Planetoid files only.

A pickle names the functions that build its objects, so that an ordinary unpickler runs any function a file
names. This one knows the six names that occur in the Planetoid files and refuses any other.
"""

import pickle
from collections import defaultdict
from io import BytesIO
from typing import Any

import numpy as np
from scipy import sparse

try:
    from numpy._core.multiarray import _reconstruct
except ImportError:  # numpy 1
    from numpy.core.multiarray import _reconstruct  # type: ignore[import-not-found,no-redef,unused-ignore]

# The files were written by Python 2, numpy 1 and an old SciPy, hence the module names.
_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("scipy.sparse.csr", "csr_matrix"): sparse.csr_matrix,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(
                f"unpickle: a Planetoid file must not name {module}.{name}; nothing was run."
            ) from None


def loads(content: bytes) -> Any:
    """Load a pickle that consists of NumPy arrays, CSR matrices, dictionaries and lists.

    Raises:
        pickle.UnpicklingError: The pickle names anything else, or the content is not a pickle.
    """
    return _Unpickler(BytesIO(content), encoding="latin1").load()
