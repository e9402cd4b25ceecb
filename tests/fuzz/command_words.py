"""Random words for every command of the command line, taken from its own options."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from gadc.cli._group import load_command
from gadc.diffusion import VARIANTS
from gadc.robustness.attacks import ATTACKS
from gadc.robustness.edges import SCORES
from gadc.transforms import NOISES
from tests.fuzz import command_files as files

# How often each command is drawn: those that train or attack take seconds.
WEIGHTS = {
    "denoise": 8,
    "predict": 7,
    "edges": 6,
    "evaluate": 5,
    "data": 6,
    "inspect": 3,
    "fit": 3,
    "attack": 2,
    "audit": 0.3,
    "report": 0.3,
    "reproduce": 1,
    "demo": 1,
}
_FLOATS = ("0", "0.1", "0.5", "1", "32", "1e-300", "1e6", "1e40", "-1", "nan", "inf", "1e308", "x", "")
_INTS = ("0", "1", "2", "3", "16", "-1", "7", "1000000000000", "2.5", "x")
_CHOICES: dict[str, tuple[str, ...]] = {
    "variant": (*VARIANTS, "V"),
    "score": (*SCORES, "none"),
    "noise": (*NOISES, "noise"),
    "normalize": ("none", "l1", "l2", "sum", "max"),
    "categorical": ("auto", "skip", "onehot", "x"),
    "missing": ("error", "mean", "zero", "x"),
    "unknown": ("error", "drop", "add", "x"),
    "head": ("linear", "mlp", "x"),
    "task": ("auto", "classify", "regress", "multilabel", "x"),
    "positive": ("0", "1", "x"),
    "threshold": ("0", "0.2", "1", "nan", "-1"),
    "top": ("1", "5", "1000000000000", "0"),
    "metric": ("accuracy", "balanced-accuracy", "x"),
    "mode": ("flip", "add", "remove", "x"),
    "victims": ("test", "all-unlabelled", "0", "0,1", "99", "-1", "x"),
    "rates": ("0.1", "0.05,0.2", "0", "2", "x", ""),
    "split": ("random", "random:1", "x:y", "lost"),
    "features": ("a", "a,b,c", "a,a", "lost", ",", "id"),
    "label": ("kind", "kind", "lost", "a"),
    "node_id": ("id", "a", "lost"),
    "source": ("from", "to", "lost"),
    "target": ("to", "from", "lost"),
    "weight": ("w", "w", "note", "lost"),
    "setting": ("epochs=2", "epochs=-1", "hidden=x", "lost=1", "epochs", "lr=nan"),
    "attack_setting": ("num_steps=2", "num_steps=0", "num_steps=x", "lost=1", "flips_per_step=0"),
    "data": ("digits", "lost", "CORA", ""),
    "name": ("digits", "lost", "../x"),
}
# Options that fit to some graphs, models or outputs only.
_CONTRADICTING = {
    "split",
    "attack",
    "rate",
    "level",
    "noise",
    "source",
    "target",
    "features",
    "label",
    "truth",
}
_CONTRADICTING |= {
    "node_id",
    "weight",
    "data",
    "setting",
    "attack_setting",
    "escape_formulas",
    "task",
    "positive",
    "threshold",
    "top",
    "add_nodes",
    "add_edges",
    "name",
    "standardize",
}
_MODELS = (
    "gcn",
    "mlp",
    "gadc",
    "appnp",
    "label-propagation",
    "adaptive/gadc-iv",
    "lost",
    "metattack/lost",
    "gat",
)
_QUICK = ("epochs=2", "num_steps=2")


def draw_words(rng: random.Random, folder: Path, models: list[Path]) -> list[str]:
    """Return the words of one command; its files are written to the folder."""
    (command,) = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))
    words, sound = [command], rng.random() < 0.65
    parameters = load_command(command)
    if command == "data":
        sub = rng.choice(("list", "info", "info", "info", "info", "verify", "get", "lost"))
        words.append(sub)
        if sub in ("get", "lost"):
            return [*words, rng.choice(("lost", "../x", ""))]  # a name that exists would be downloaded
        parameters = parameters.commands[sub]
        if sub == "verify":
            return [*words, "--data-dir", str(folder)]
    if command == "demo":  # a sound request takes a minute
        return [*words, *rng.choice((("--runs", "0"), ("--out", "x.txt"), ("--seed", "-1"), ("x",)))]
    if command == "reproduce":
        bad = (("list",), ("list", "--json"), ("lost",), ("metattack", "--rows", "x"), ("--runs", "0"))
        return [*words, *rng.choice(bad), "--out", str(folder / "out")]
    if command == "report":
        return [*words, str(rng.choice((files.draw_results(rng, folder), folder / "lost")))]
    words += _arguments(rng, command, folder, models, sound)
    words += _options(rng, parameters, command, folder, sound)
    if rng.random() < 0.03:
        words.insert(rng.randrange(1, len(words) + 1), rng.choice(("--lost", "-x", "extra", "--", "")))
    return words


def _arguments(rng: random.Random, command: str, folder: Path, models: list[Path], sound: bool) -> list[str]:
    """Return the model file, the graph and the output, each of them nearly always."""
    words: list[str] = []
    if command in ("predict", "evaluate") and rng.random() < 0.98:
        words.append(str(files.draw_model(rng, models, folder, sound=sound)))
    kind = rng.random()
    if kind < 0.85 or sound:
        edges, nodes = files.draw_tables(rng, folder, sound=sound)
        words += ["--edges", str(edges), "--nodes", str(nodes)]
        if sound or rng.random() < 0.7:
            words += ["--label", "kind"]
    elif kind < 0.97:
        words += ["--graph", str(files.draw_graph(rng, folder))]
    tables = (".csv", ".parquet", ".feather")
    ends: dict[str, tuple[str, ...]] = dict.fromkeys(("denoise", "predict", "edges"), tables)
    ends |= {"fit": (".safetensors",), "attack": (".npz",)}
    if command in ends and rng.random() < 0.97:
        suffix = rng.choice(ends[command]) if sound or rng.random() < 0.9 else ".txt"
        place = folder if sound or rng.random() < 0.9 else folder / "lost"
        words += ["-o", str(place / f"out{suffix}")]
    if command in ("evaluate", "audit", "fit") and rng.random() < 0.05:
        words += ["--report", str(folder / "out.html")]
    if command == "edges" and rng.random() < 0.3:
        words += ["--model", str(files.draw_model(rng, models, folder, sound=sound))]
    if command == "fit" and rng.random() < 0.95:
        words += ["--variant", rng.choice(tuple(VARIANTS))]  # "auto" compares them all
    if command in ("attack", "audit"):
        words += (
            ["--model", rng.choice(_MODELS[:4] if sound else _MODELS)]
            if rng.random() < 0.8
            else ["--hook", files.draw_hook(rng, folder)]
        )
        if rng.random() < 0.9 and "--hook" not in words:
            words += ["--setting", "epochs=2"]
    if command == "attack":
        words += ["--attack", rng.choice((*ATTACKS, *(() if sound else ("lost",))))]
        words += rng.choice((("--budget", "1"), ("--budget", "3"), ("--rate", "0.2")))
    if command == "audit":
        words += ["--fast", "--no-poisoning"]
    return words


def _options(rng: random.Random, parameters: Any, command: str, folder: Path, sound: bool) -> list[str]:
    """Return a few options with values of their kind, some of them impossible."""
    words: list[str] = []
    skipped = {
        "out",
        "edges",
        "nodes",
        "graph",
        "report",
        "model",
        "hook",
        "help",
        "runs",
        "seeds",
        "poisoning",
    }
    skipped |= {"data_dir"} | (_CONTRADICTING if sound else set())
    known = [one for one in parameters.params if one.name not in skipped and one.param_type_name == "option"]
    for option in rng.sample(known, min(len(known), rng.choice((0, 0, 1, 1, 2, 3, 5)))):
        if option.name == "data" and rng.random() < 0.8:
            continue
        if option.name == "attack" and command == "attack":
            continue
        words.append(rng.choice([*option.opts, *option.secondary_opts]))
        if not option.is_flag:
            words.append(_value(rng, option, folder, sound))
    if sound and command in ("denoise", "inspect", "fit", "edges") and rng.random() < 0.2:
        words += ["--noise", rng.choice(tuple(NOISES)), "--level", rng.choice(("0.1", "0.5", "1", "1e30"))]
    return words


def _value(rng: random.Random, option: Any, folder: Path, sound: bool) -> str:
    if option.name in _CHOICES and (sound or rng.random() < 0.9):
        choices = _CHOICES[option.name]
        return rng.choice(choices[: len(choices) - 1] if sound else choices)
    if option.name in ("lam", "eps", "rtol", "rate", "level"):
        return rng.choice(_FLOATS[:8] if sound else _FLOATS)
    if option.name in ("num_steps", "seed", "effects", "budget"):
        return rng.choice(_INTS[:5] if sound else _INTS)
    if option.name == "truth":
        return str(folder / rng.choice(("edges.csv", "edges.parquet", "lost")))
    return rng.choice(files.NAMES[:-1])
