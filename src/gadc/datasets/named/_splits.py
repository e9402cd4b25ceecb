"""Splits: the published ones, and those drawn by seed. A split is one role a node (see `graph.roles`)."""

import json
from collections.abc import Callable

import numpy as np
from sklearn.model_selection import train_test_split

from gadc._base.validation import check_count
from gadc.datasets.named._raw_graph import Array, RawGraph
from gadc.datasets.named._readers.npz import read_masks
from gadc.datasets.named._roles import roles_from_indices

ADAPTIVE_STATES = (1234, 2021, 1309, 4242, 1998)


def random_split(y: Array, seed: int) -> Array:
    """60/20/20 % of the labelled nodes, uniform: ⌊n/5⌋ to validate, ⌊n/5⌋ to test, the rest to train."""
    check_count("split 'random'", seed, "seed")
    nodes = np.random.default_rng(seed).permutation(np.flatnonzero(y >= 0))
    fifth = len(nodes) // 5
    return roles_from_indices(len(y), nodes[2 * fifth :], nodes[:fifth], nodes[fifth : 2 * fifth])


def adaptive_split(y: Array, seed: int) -> Array:
    """10/10/80 %, stratified, as Mujkanovic et al. (NeurIPS 2022) split; `seed` counts the five states."""
    state = ADAPTIVE_STATES[_choice("adaptive", seed, len(ADAPTIVE_STATES))]
    few, test = train_test_split(np.arange(len(y)), train_size=0.2, stratify=y, random_state=state)
    train, val = train_test_split(few, train_size=0.5, stratify=y[few], random_state=state)
    return roles_from_indices(len(y), train, val, test)


def choose_split(
    graph: RawGraph, split: str, seed: int | None, files: tuple[str, ...], read: Callable[[str], bytes]
) -> Array:
    """Roles of the nodes in a named split; a node without a label has none.

    Args:
        graph: The graph, with the splits that came with it.
        split: Name of the split, known to exist.
        seed: Seed of a drawn split, number of a published one; None is 0. Must be None for a fixed split.
        files: Files of the split, where it has its own.
        read: Gives the content of a file.
    """
    if split == "random":
        chosen = random_split(graph.y, seed or 0)
    elif split == "adaptive":
        chosen = adaptive_split(graph.y, seed or 0)
    elif split in graph.splits:
        published = graph.splits[split]
        chosen = published[_choice(split, seed, len(published))]
    else:
        content = read(files[_choice(split, seed, len(files))])
        chosen = _from_lists(content, graph.num_nodes) if content.startswith(b"{") else read_masks(content)
    return np.where(graph.y >= 0, chosen, 0).astype(np.int8)


def _from_lists(content: bytes, num_nodes: int) -> Array:
    """Roles in a Pro-GNN file: JSON with three lists of nodes."""
    lists = json.loads(content)
    return roles_from_indices(num_nodes, lists["idx_train"], lists["idx_val"], lists["idx_test"])


def _choice(split: str, seed: int | None, count: int) -> int:
    if count == 1 and seed is not None:
        raise ValueError(f"split {split!r}: there is one only, so seed must be None, got {seed!r}.")
    number = seed or 0
    if number not in range(count):
        raise ValueError(f"split {split!r}: seed must be one of 0..{count - 1}, got {seed!r}.")
    return number
