"""`variant="auto"`: what the graph says, which candidates there are, which one validates best, and why.

The flow: facts.py ─▶ candidates.py ─▶ sweep.py ─▶ search.py ─▶ choose.py ─▶ explain.py.
"""

from gadc.models.auto._candidates import Candidate
from gadc.models.auto._decide import Contender, decide
from gadc.models.auto._explain import Choice, make_choice
from gadc.models.auto._facts import Facts, measure_facts
from gadc.models.auto._rounds import Round, make_rounds
from gadc.models.auto._search import Search, Trial
from gadc.models.auto._suggest import suggest

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
