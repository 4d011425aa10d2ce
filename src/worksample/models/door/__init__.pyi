from .asked import Refusal as Refusal
from .door import ModelGateway as ModelGateway
