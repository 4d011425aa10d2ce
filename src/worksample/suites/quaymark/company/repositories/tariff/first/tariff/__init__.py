from .price import price

__all__ = ["price"]
