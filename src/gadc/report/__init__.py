"""Reports: the tables of the paper with our figures beside the published ones, and pages of single runs.

    write_report                   all tables as Markdown, LaTeX and HTML, with plots
    write_reproduction_page        the page `docs/evidence/reproduction.md` with its heat maps
    RunReport, Comparison, ComparisonCell, Verdict
                                   the page of one run, and its tables
    AccuracyBars, Bar, BudgetCurve, BudgetCurves, CalibrationPlot, ConfusionMatrix, CosineHistogram,
    FeatureMap, Picture, ResidualPlot, TrainingCurve, TrainingCurves
                                   its pictures
    PlainReport, PlainSection, PlainTable, chance_in_words, cases_in_words
                                   a page in plain words
    edge_cosines, feature_map, training_curve, wilson_interval
                                   pictures and intervals from a graph, a training or an accuracy

Matplotlib and Jinja are imported when a picture or a page is made.
"""

from gadc.report._chance import cases_in_words, chance_in_words
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
from gadc.report._plain_report import PlainReport, PlainSection, PlainTable
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
    "PlainReport",
    "PlainSection",
    "PlainTable",
    "ResidualPlot",
    "RunReport",
    "TrainingCurve",
    "TrainingCurves",
    "Verdict",
    "cases_in_words",
    "chance_in_words",
    "edge_cosines",
    "feature_map",
    "training_curve",
    "wilson_interval",
    "write_report",
    "write_reproduction_page",
]
