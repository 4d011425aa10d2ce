from .gateway import ModelGateway as ModelGateway
from .request import Refusal as Refusal
