"""`gadc attack`: perturb a graph and store the flips."""

from pathlib import Path
from typing import Annotated, Any

import typer

from gadc.cli._bundles import spread
from gadc.cli._graph_input import tell_notes
from gadc.cli._labelled_graph import LabelledGraph
from gadc.cli._model_option import Hook, ModelName, Settings, make_defender
from gadc.cli._output import AsJson, check_folder, print_facts, print_json, say, working
from gadc.cli._reproduce import Resume


@spread
def attack(
    graph: LabelledGraph,
    attack: Annotated[str, typer.Option("--attack", help="Name of the attack, such as pgd or metattack.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The perturbation to write, an .npz file.")],
    rate: Annotated[float | None, typer.Option("--rate", help="Budget as a share of the edges.")] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", min=1, help="Or in pairs (for Nettack, of each target).")
    ] = None,
    victims: Annotated[
        str | None,
        typer.Option("--victims", help="test, all-unlabelled (not in training) or numbers: 3,14,15."),
    ] = None,
    mode: Annotated[str, typer.Option("--mode", help="What is allowed: flip, add or remove.")] = "flip",
    attack_setting: Annotated[
        list[str] | None, typer.Option("--attack-setting", help="Setting of the attack, as key=value.")
    ] = None,
    model: ModelName = None,
    hook: Hook = None,
    setting: Settings = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")] = 0,
    resume: Resume = True,
    as_json: AsJson = False,
) -> None:
    """Attack a trained model, store the flipped pairs, and say what they do to it.

    Attacks by gradient go through the model itself. Metattack attacks the training of a surrogate; when it is
    interrupted, the same command goes on where it was.

    Example: gadc attack --data cora-prognn --model gadc-iv --attack metattack --rate 0.25 -o attacked.npz
    """
    _check_out(out)
    name, fit = make_defender(model, hook, setting)
    from gadc.cli._attack_run import AttackRequest
    from gadc.robustness.attacks import make_manifest, save_perturbation

    with working("Reading the graph"):
        data = graph.read_split(seed)
    tell_notes(data)
    request = AttackRequest.of(
        data,
        attack=attack,
        settings=attack_setting,
        rate=rate,
        budget=budget,
        victims=victims,
        mode=mode,
        seed=seed,
        fit=fit,
    )
    partial = out.with_name(f"{out.name}.partial.json")
    with working(f"Training {name}"):
        scores = fit(data, seed)
    flips = request.run(scores, partial, resume=resume)
    with working(f"Training {name} again"):
        accuracies = request.test_accuracies(scores, flips)
    known: dict[str, Any] = {"attack": attack, "budget": request.budget, "seed": seed, "model": name}
    manifest = {
        **make_manifest(data, flips, settings=request.settings, **known),
        "data": graph.title,
        "split": graph.split,
        "mode": mode,
        "victims": request.victims,
        "model_settings": list(setting or ()),
        "test_accuracy": accuracies,
    }
    save_perturbation(out, flips, manifest)
    partial.unlink(missing_ok=True)
    if as_json:
        return print_json({"out": str(out), **manifest})
    shown = {key: manifest[key] for key in ("attack", "model", "budget", "flips", "added", "removed", "seed")}
    figures = {f"{part} accuracy %": round(value, 1) for part, value in accuracies.items()}
    print_facts(f"{graph.title}: {int(data.test_mask.sum()):,} test nodes", {**shown, **figures})
    say(f"Wrote {out}.")


def _check_out(out: Path) -> None:
    if out.suffix.lower() != ".npz":
        raise ValueError(f"--out must end in .npz, got {str(out)!r}.")
    check_folder(out)
