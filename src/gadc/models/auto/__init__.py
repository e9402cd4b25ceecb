"""Choose the variant that suits a graph: what the graph is like, which candidates there are, and which wins.

The steps, in order: `_facts` measures the graph, `_search` tries all `_candidates` with a cheap head,
`_finals` trains the best of them, `_decide` picks one, `_explain` says why.

Auto, FittedAuto
The model, and its trained form.
Candidate, FAMILIES
A way to compute features for a head; the families of candidates.
Choice, Facts, Reader
The outcome of a choice; figures of a graph; a candidate with its trained head.
measure_facts, suggest
Measure a graph; suggest a family from these figures alone.
aggregate, median_norm
The features of a candidate, and the scale by which a head's input is divided.
"""

from gadc.models.auto._auto import Auto, FittedAuto
from gadc.models.auto._candidates import FAMILIES, Candidate
from gadc.models.auto._explain import Choice
from gadc.models.auto._facts import Facts, measure_facts
from gadc.models.auto._reader import Reader, aggregate, median_norm
from gadc.models.auto._suggest import suggest

__all__ = [
    "FAMILIES",
    "Auto",
    "Candidate",
    "Choice",
    "Facts",
    "FittedAuto",
    "Reader",
    "aggregate",
    "measure_facts",
    "median_norm",
    "suggest",
]
