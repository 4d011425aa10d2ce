from .embedding import EMBEDDINGS as EMBEDDINGS
from .embedding import embed as embed
from .grouping import ClusterConfig as ClusterConfig
from .grouping import Clusters as Clusters
from .grouping import group as group
from .outcomes import ClusterReport as ClusterReport
from .outcomes import cluster_criteria as cluster_criteria
