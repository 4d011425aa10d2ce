"""The plots of a report, each as SVG and PNG beside the CSV of exactly what is drawn."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
