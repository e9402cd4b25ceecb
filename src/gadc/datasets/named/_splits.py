"""Published splits, and splits drawn by seed; a split is one role per node, see `_roles`."""

import json
from collections.abc import Callable

import numpy as np
from sklearn.model_selection import train_test_split

from gadc._base.scalars import check_count
from gadc.datasets.named._raw_graph import Array, RawGraph
from gadc.datasets.named._readers.npz import read_masks
from gadc.datasets.named._roles import roles_from_indices

ADAPTIVE_STATES = (1234, 2021, 1309, 4242, 1998)


def random_split(y: Array, seed: int) -> Array:
    """Draw 60/20/20 % of the labelled nodes: ⌊n/5⌋ validate, ⌊n/5⌋ test, the rest trains."""
    check_count("split 'random'", seed, "seed")
    nodes = np.random.default_rng(seed).permutation(np.flatnonzero(y >= 0))
    fifth = len(nodes) // 5
    return roles_from_indices(len(y), nodes[2 * fifth :], nodes[:fifth], nodes[fifth : 2 * fifth])


def adaptive_split(y: Array, seed: int) -> Array:
    """Draw 10/10/80 %, stratified, as Mujkanovic et al. (NeurIPS 2022); `seed` counts their five states."""
    state = ADAPTIVE_STATES[_number("adaptive", seed, len(ADAPTIVE_STATES))]
    few, test = train_test_split(np.arange(len(y)), train_size=0.2, stratify=y, random_state=state)
    train, val = train_test_split(few, train_size=0.5, stratify=y[few], random_state=state)
    return roles_from_indices(len(y), train, val, test)


def choose_split(
    graph: RawGraph, split: str, seed: int | None, files: tuple[str, ...], read: Callable[[str], bytes]
) -> Array:
    """Return the roles of the nodes in a named split; a node without a label has no role.

    Args:
        graph: The graph, with the splits that came with it.
        split: Name of the split, known to exist.
        seed: Seed of a drawn split or number of a published one; None means 0. Must be None for a single
            split.
        files: Files of the split, if it has its own.
        read: Returns the content of a file.
    """
    if split == "random":
        chosen = random_split(graph.y, seed or 0)
    elif split == "adaptive":
        chosen = adaptive_split(graph.y, seed or 0)
    elif split in graph.splits:
        published = graph.splits[split]
        chosen = published[_number(split, seed, len(published))]
    else:
        content = read(files[_number(split, seed, len(files))])
        chosen = _from_lists(content, graph.num_nodes) if content.startswith(b"{") else read_masks(content)
    return np.where(graph.y >= 0, chosen, 0).astype(np.int8)


def _from_lists(content: bytes, num_nodes: int) -> Array:
    """Read the roles in a Pro-GNN file: JSON with three lists of nodes."""
    lists = json.loads(content)
    return roles_from_indices(num_nodes, lists["idx_train"], lists["idx_val"], lists["idx_test"])


def _number(split: str, seed: int | None, count: int) -> int:
    """Return the number of one of `count` splits."""
    if count == 1 and seed is not None:
        raise ValueError(f"split {split!r}: there is only one, so seed must be None, got {seed!r}.")
    number = seed or 0
    if number not in range(count):
        raise ValueError(f"split {split!r}: seed must be one of 0..{count - 1}, got {seed!r}.")
    return number
