"""Reports: the tables of the paper with our figures beside the published ones, and pages of single runs.

    write_report                   all tables as Markdown, LaTeX and HTML, with plots
    write_reproduction_page        the page `docs/evidence/reproduction.md` with its heat maps
    RunReport, Comparison, ComparisonCell, Verdict
                                   the page of one run, and its tables
    AccuracyBars, Bar, BudgetCurve, BudgetCurves, CalibrationPlot, ConfusionMatrix, CosineHistogram,
    FeatureMap, Picture, ResidualPlot, TrainingCurve, TrainingCurves
                                   its pictures
    edge_cosines, feature_map, training_curve, wilson_interval
                                   pictures and intervals from a graph, a training or an accuracy

Matplotlib and Jinja are imported when a picture or a page is made.
"""

from gadc.report._evidence import edge_cosines, feature_map, training_curve
from gadc.report._interval import wilson_interval
from gadc.report._pictures import (
    AccuracyBars,
    Bar,
    BudgetCurve,
    BudgetCurves,
    CalibrationPlot,
    ConfusionMatrix,
    CosineHistogram,
    FeatureMap,
    Picture,
    ResidualPlot,
    TrainingCurve,
    TrainingCurves,
)
from gadc.report._reproduction_page import write_reproduction_page
from gadc.report._run_report import Comparison, ComparisonCell, RunReport, Verdict
from gadc.report._write_report import write_report

__all__ = [
    "AccuracyBars",
    "Bar",
    "BudgetCurve",
    "BudgetCurves",
    "CalibrationPlot",
    "Comparison",
    "ComparisonCell",
    "ConfusionMatrix",
    "CosineHistogram",
    "FeatureMap",
    "Picture",
    "ResidualPlot",
    "RunReport",
    "TrainingCurve",
    "TrainingCurves",
    "Verdict",
    "edge_cosines",
    "feature_map",
    "training_curve",
    "wilson_interval",
    "write_report",
    "write_reproduction_page",
]
