from .clustering import ClusterConfig as ClusterConfig
from .clustering import Clusters as Clusters
from .clustering import cluster_vectors as cluster_vectors
from .embedding import EMBEDDINGS as EMBEDDINGS
from .embedding import embed as embed
from .failure_clusters import ClusterReport as ClusterReport
from .failure_clusters import cluster_criteria as cluster_criteria
