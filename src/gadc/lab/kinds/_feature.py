"""Nodes whose features do not fit, and the column at fault.

Tables: each value is predicted from the same column of the neighbours, and what remains from the other
columns of the node. The residual of a value, in units of its usual size, is its z-score; the evidence is

    column     the largest z-score of the node
    row        the mean square of its residuals, correlations taken into account (Mahalanobis)
    neighbors  the mean square of what the neighbours leave unexplained
    direction  1 - cosine of the row with the mean of the neighbours
    extreme    the largest deviation from the mean of a column

Words (mostly zeros): the words that no neighbour has, the part of the row outside the 256 usual directions,
the cosine with the neighbours, and the number of words. Rows are damaged on purpose (exchanged with another
node, cells mixed, noise) to learn how a damaged row looks.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from gadc.lab._findings import Findings
from gadc.lab._flagged import flagged_frame, flagged_sentence
from gadc.lab._kind import Kind
from gadc.lab._planting import Judged, Round, judge
from gadc.lab._prepared import is_words
from gadc.lab._reasons import Reason, words
from gadc.lab._view import GraphView
from gadc.lab.kinds._damage import damaged
from gadc.lab.kinds._residuals import RowEvidence, table_evidence, word_evidence

_ROUNDS = 2
_PLANTED = 0.1  # of the nodes, per round

_TABLE = (
    Reason("a value further from the expected one than at {share} of the nodes"),
    Reason("a combination of values less usual than at {share} of the nodes"),
    Reason("further from the neighbours than {share} of the nodes"),
    Reason("in another direction than the neighbours, more than {share} of the nodes"),
    Reason("a value more extreme than at {share} of the nodes"),
)
_WORDS = (
    Reason("more words that no neighbour has than {share} of the nodes"),
    Reason("words that occur together less than at {share} of the nodes"),
    Reason("less like the neighbours than {share} of the nodes"),
    Reason("topics less like the neighbours' than at {share} of the nodes"),
    Reason("more words than at {share} of the nodes"),
)


class Feature(Kind):
    """Find nodes whose features do not fit, and name the column at fault.

    Examples:
        >>> import gadc
        >>> from gadc.datasets import csbm
        >>> data = csbm(300, num_features=8, signal=3.0, seed=0)
        >>> data.x[5, 2] = 40.0
        >>> lab = gadc.Lab(data).find_issues(kinds=["feature"])
        >>> lab.issues("feature").select("id", "column").row(0)
        (5, 'x2')
    """

    name = "feature"
    title = "Nodes whose features do not fit"
    items = "node"
    needs_features = True

    def find(self, view: GraphView) -> Findings:
        """Judge the row of every node."""
        view.tell("feature: residuals")
        assert view.features is not None  # noqa: S101 - `missing` said so
        evidence_of = word_evidence if is_words(view.features) else table_evidence
        final = evidence_of(view, view.features)
        judged = _judge(view, final, evidence_of)
        reasons = _WORDS if evidence_of is word_evidence else _TABLE
        names = pl.Series(view.columns, dtype=pl.String)
        frame = flagged_frame(
            {"node": np.arange(view.num_nodes)},
            judged,
            view.precision,
            reasons=lambda chosen: _reasons(reasons, final, chosen, view.columns),
            extra={"column": names.gather(final.column), "z_score": np.round(final.z_score, 2)},
        )
        summary = flagged_sentence(
            frame,
            found="nodes have features that do not fit",
            none="No node with damaged features was found among {total} nodes.",
        )
        few = f"{view.num_nodes:,} nodes are too few to calibrate; they are ranked, and none is flagged."
        return Findings(
            frame=frame,
            summary=summary,
            expected=float(judged.probability.sum()),
            threshold=view.precision,
            notes=(few,) if np.isnan(judged.share) else (),
        )


def _reasons(
    reasons: tuple[Reason, ...], evidence: RowEvidence, chosen: np.ndarray, columns: list[str]
) -> list[str]:
    texts = words(reasons, evidence.values, chosen)
    return [
        f"{text}; column {columns[evidence.column[i]]!r} at fault most"
        for text, i in zip(texts, chosen, strict=True)
    ]


def _judge(view: GraphView, final: RowEvidence, evidence_of: object) -> Judged:
    """Damage rows, compute the evidence again and judge."""
    rounds = []
    for number in range(_ROUNDS if view.num_nodes >= 40 else 0):
        view.tell(f"feature: damaging rows, round {number + 1} of {_ROUNDS}")
        rng = view.generator(salt=30 + number)
        count = max(1, round(_PLANTED * view.num_nodes))
        hosts = np.sort(rng.choice(view.num_nodes, count, replace=False))
        evidence = evidence_of(view, damaged(view.features, hosts, rng)).values  # type: ignore[operator]
        kept = np.setdiff1d(np.arange(view.num_nodes), hosts)
        rounds.append(Round(given=evidence[kept], planted=evidence[hosts], hosts=hosts))
    return judge(final.values, rounds, seed=view.seed)
