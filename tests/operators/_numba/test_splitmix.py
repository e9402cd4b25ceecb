"""Random bits by place: the published sequence, and the same from the compiled loop."""

import numpy as np

from gadc.operators._numba import loops
from gadc.operators._numba.splitmix import scrambled


def test_the_published_sequence():
    """The first five numbers of the generator with seed 1234567, as implementations of it are checked by."""
    expected = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert scrambled(np.uint64(1234567), np.arange(1, 6, dtype=np.uint64)).tolist() == expected


def test_the_loop_makes_any_range_of_it():
    words = np.empty(100, np.uint64)
    loops.random_words(words, np.uint64(2**63 - 7), np.uint64(50))
    places = np.arange(50, 150, dtype=np.uint64)
    assert np.array_equal(words, scrambled(np.uint64(2**63 - 7), places))
