"""A small report of a run with everything in it, and texts that try to break out of the page."""

import numpy as np

from gadc.report import (
    AccuracyBars,
    Bar,
    BudgetCurve,
    BudgetCurves,
    Comparison,
    ComparisonCell,
    ConfusionMatrix,
    CosineHistogram,
    FeatureMap,
    RunReport,
    TrainingCurve,
    TrainingCurves,
    Verdict,
)

HOSTILE = "</script><script>console.error('broken out')</script><b>&\"'"
HOSTILE_NAMES = (
    HOSTILE,
    "two\nlines and\ttab",
    "reversed \u202e from here",
    "שלום עולם",
    "中文 🙂",
    "bell \x07 and red \x1b[31m",
    "not \udcff UTF-8",
    "_underscore",
    "$\\frac{1}{0}$",
    "x" * 10_000,
)
MODELS = {"middling": 60.0, "best": 95.5, "worst": 12.25}


def run_report(**changes):
    rng = np.random.default_rng(0)
    cosines = rng.uniform(-1, 1, 200)
    curve = TrainingCurve(label="best", losses=[2.0, 1.0, 0.5], accuracies=[20.0, 90.0, 80.0], epoch=1)
    bars = [Bar(label=name, value=value, low=value - 5, high=value + 4) for name, value in MODELS.items()]
    fields = {
        "title": f"A run {HOSTILE}",
        "verdict": "It went well.",
        "command": f"gadc fit --label '{HOSTILE}' " + "--features " + ",".join(["a_long_column_name"] * 30),
        "settings": {"variant": "II", HOSTILE: HOSTILE},
        "card": {"nodes": "80", "a" * 60: "b" * 200},
        "comparison": Comparison(
            columns=("model", "accuracy %", *(f"measure {i}" for i in range(12))),
            rows=tuple(
                (name, (ComparisonCell(text=f"{value} ± 1", value=value), *[ComparisonCell(text="")] * 12))
                for name, value in MODELS.items()
            ),
            caption="Three models.",
        ),
        "accuracies": AccuracyBars(title="Accuracy", caption=f"Bars {HOSTILE}", bars=tuple(bars)),
        "pictures": [
            CosineHistogram(title="Edges", cosines=cosines, suspicious=cosines < 0, planted=cosines < -0.5),
            TrainingCurves(title="Training", curves=(curve,)),
            ConfusionMatrix(title="Confusion", classes=(HOSTILE, "b"), counts=np.array([[3, 1], [0, 5]])),
            FeatureMap(
                title="Map",
                before=rng.normal(size=(9, 2)),
                after=rng.normal(size=(9, 2)),
                codes=np.arange(9) % 3 - 1,
                classes=(HOSTILE, "b"),
            ),
            BudgetCurves(
                title="Attacks",
                curves=(BudgetCurve(label="PGD", points=((0.05, 60.0), (0.2, 40.0))),),
                clean=80.0,
                lowest=((0.05, 60.0), (0.2, 40.0)),
                graph_free=55.0,
            ),
        ],
        "checks": [
            Verdict(name=f"more budget never helps {HOSTILE}", passed=False, detail="a" * 200),
            Verdict(name="the gradient goes through", passed=True, detail="it does"),
            Verdict(name="an unlimited budget", passed=None, detail="not tried"),
        ],
        "explanation": f"Chosen because\nof {HOSTILE}.",
        "notes": ("Read me.",),
    }
    return RunReport(**(fields | changes))
