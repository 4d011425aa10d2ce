from .checkout import AlePackage as AlePackage
from .checkout import read_checkout as read_checkout
from .listing import AleInstance as AleInstance
from .listing import AleListing as AleListing
from .package_list import list_packages as list_packages
