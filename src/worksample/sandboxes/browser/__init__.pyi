from .actions import ACTIONS as ACTIONS
from .browser import CURRENT as CURRENT
from .browser import Browser as Browser
from .browser import BrowserObservation as BrowserObservation
from .browser_config import OBSERVATIONS as OBSERVATIONS
from .browser_config import BrowserConfig as BrowserConfig
from .browser_ledger import BrowserLedger as BrowserLedger
from .chromium import missing_browser_command as missing_browser_command
