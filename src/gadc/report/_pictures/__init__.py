"""The pictures of a run, one file each.

Each picture is a frozen dataclass of the figures it shows, with a caption that says how to read it. It paints
itself in colours that are readable on light and on dark pages.
"""

from gadc.report._pictures._accuracy_bars import AccuracyBars, Bar
from gadc.report._pictures._budget_curves import BudgetCurve, BudgetCurves
from gadc.report._pictures._calibration_plot import CalibrationPlot
from gadc.report._pictures._confusion_matrix import ConfusionMatrix
from gadc.report._pictures._cosine_histogram import CosineHistogram
from gadc.report._pictures._feature_map import FeatureMap
from gadc.report._pictures._picture import Picture
from gadc.report._pictures._residual_plot import ResidualPlot
from gadc.report._pictures._training_curves import TrainingCurve, TrainingCurves

__all__ = [
    "AccuracyBars",
    "Bar",
    "BudgetCurve",
    "BudgetCurves",
    "CalibrationPlot",
    "ConfusionMatrix",
    "CosineHistogram",
    "FeatureMap",
    "Picture",
    "ResidualPlot",
    "TrainingCurve",
    "TrainingCurves",
]
