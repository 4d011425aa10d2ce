"""The plots of a report, each as SVG and PNG, with a CSV of the plotted data."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
