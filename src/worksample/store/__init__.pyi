from .blobs import Blobs as Blobs
from .checking import StoreFault as StoreFault
from .checking import check as check
from .merging import merge as merge
from .rebuilding import rebuild as rebuild
from .store import Store as Store
