"""The frozen records: task -> trial -> submission -> evaluation -> verdict. Data only, no behaviour beyond arithmetic.

Names are imported one by one on first use: so a grader starts in half the time.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
