"""`variant="auto"`: what the graph says, which candidates there are, which one validates best, and why.

The flow: facts.py ─▶ candidates.py ─▶ sweep.py ─▶ search.py ─▶ choose.py ─▶ explain.py.
"""

from gadc.auto.candidates import Candidate
from gadc.auto.choose import Contender, decide
from gadc.auto.explain import Choice, make_choice
from gadc.auto.facts import Facts, measure_facts
from gadc.auto.rounds import Round, make_rounds
from gadc.auto.search import Search, Trial
from gadc.auto.suggest import suggest

__all__ = [
    "Candidate",
    "Choice",
    "Contender",
    "Facts",
    "Round",
    "Search",
    "Trial",
    "decide",
    "make_choice",
    "make_rounds",
    "measure_facts",
    "suggest",
]
