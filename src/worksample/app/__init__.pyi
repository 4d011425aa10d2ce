from .config import AppConfig as AppConfig
from .create import create_app as create_app
