"""Groups of criteria that ask for the like, and which of them agents fail (UpBench 5.5)."""

from .embedding import EMBEDDINGS, embed
from .grouping import ClusterConfig, Clusters, group
from .outcomes import ClusterReport, cluster_criteria

__all__ = ["EMBEDDINGS", "ClusterConfig", "ClusterReport", "Clusters", "cluster_criteria", "embed", "group"]
