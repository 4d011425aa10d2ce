from .blobs import Blobs as Blobs
from .blobs import put_canonical as put_canonical
from .integrity_check import StoreFault as StoreFault
from .integrity_check import check as check
from .maintenance import merge as merge
from .maintenance import rebuild as rebuild
from .store import Store as Store
