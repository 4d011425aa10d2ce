from .all_sections import measure as measure
from .comparison import Change as Change
from .comparison import Comparison as Comparison
from .comparison import compare as compare
from .figure_settings import MeasureConfig as MeasureConfig
from .section import Section as Section
from .section import SectionRow as SectionRow
from .section import figures_df as figures_df
