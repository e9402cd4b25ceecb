"""`gadc inspect`: what a graph is like, and what the variants would make of it."""

from gadc.cli.bundles import spread
from gadc.cli.graph_input import GraphInput, tell_notes
from gadc.cli.output import AsJson, print_facts, print_json, print_rows, working


@spread
def inspect(graph: GraphInput, as_json: AsJson = False) -> None:
    """Describe a graph: card, homophily, degrees, noise, and ρ(T), convergence and memory of each variant.

    Example: gadc inspect --edges edges.csv --nodes nodes.csv --label kind
    """
    from gadc.cli import inspection

    with working("Reading the graph"):
        data = graph.read()
    tell_notes(data)
    with working("Measuring the graph"):
        card, noise, connectivity = inspection.describe(data, graph.seed)
    with working("Measuring the variants"):
        variants = inspection.variants(data, graph.seed)
    if as_json:
        return print_json({"card": card, "noise": noise, "connectivity": connectivity, "variants": variants})
    print_facts(graph.title, card)
    print_facts("Features", noise)
    print_facts("Connectivity at λ = 32, K = 16", connectivity)
    print_rows("Variants at ε = 1", variants)
