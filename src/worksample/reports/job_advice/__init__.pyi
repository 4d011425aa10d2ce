from .advice import Advice as Advice
from .advice import AdviceConfig as AdviceConfig
from .advice import ListAdvice as ListAdvice
from .advice import advise as advise
from .evidence import Evidence as Evidence
from .evidence import evidence_of as evidence_of
from .job_list import ListedJob as ListedJob
from .job_list import read_list as read_list
