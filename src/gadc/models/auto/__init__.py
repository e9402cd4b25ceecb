"""Choose the candidate that suits a graph, within a time budget."""

from gadc.models.auto._auto import FAMILIES, Auto, FittedAuto
from gadc.models.auto._choice import Choice
from gadc.models.auto._ensemble import Ensemble
from gadc.models.auto._facts import Facts, measure_facts
from gadc.models.auto._suggest import suggest
from gadc.models.auto._view import OPERATORS
from gadc.models.auto.candidates._diffused import median_norm

__all__ = [
    "FAMILIES",
    "OPERATORS",
    "Auto",
    "Choice",
    "Ensemble",
    "Facts",
    "FittedAuto",
    "measure_facts",
    "median_norm",
    "suggest",
]
