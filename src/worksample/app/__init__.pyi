from .config import AppConfig as AppConfig
from .server.application import create_app as create_app
