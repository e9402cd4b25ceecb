"""`gadc inspect`: what a graph is like, and what the variants would make of it."""

from gadc.cli._bundles import spread
from gadc.cli._graph_input import GraphInput, tell_notes
from gadc.cli._output import AsJson, print_facts, print_json, print_rows, working


@spread
def inspect(graph: GraphInput, as_json: AsJson = False) -> None:
    """Describe a graph: card, homophily, degrees, noise; what each variant would cost; which one to try.

    Example: gadc inspect --edges edges.csv --nodes nodes.csv --label kind
    """
    from gadc.cli import _inspection as inspection

    with working("Reading the graph"):
        data = graph.read()
    tell_notes(data)
    with working("Measuring the graph"):
        card, noise, connectivity = inspection.describe(data, graph.seed)
    with working("Measuring the variants"):
        variants = inspection.variants(data, graph.seed)
        suggested = inspection.suggestion(data, graph.seed)
    if as_json:
        facts = {"card": card, "noise": noise, "connectivity": connectivity}
        return print_json({**facts, "variants": variants, "suggested": suggested})
    print_facts(graph.title, card)
    print_facts("Features", noise)
    print_facts("Connectivity at λ = 32, K = 16", connectivity)
    print_rows("Variants at ε = 1, seconds at K = 16", variants)
    print_facts("Suggested from these facts (`gadc fit` compares them all on held-out labels)", suggested)
