from .blobs import Blobs as Blobs
from .blobs import put_canonical as put_canonical
from .integrity_check import StoreFault as StoreFault
from .integrity_check import check as check
from .merge_and_rebuild import merge as merge
from .merge_and_rebuild import rebuild as rebuild
from .store import Store as Store
