from .comparing import Change as Change
from .comparing import Comparison as Comparison
from .comparing import compare as compare
from .config import MeasureConfig as MeasureConfig
from .measuring import measure as measure
from .section import Section as Section
from .section import SectionRow as SectionRow
from .section import figures_df as figures_df
