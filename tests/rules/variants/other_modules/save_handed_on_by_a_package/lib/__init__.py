from .files import save

__all__ = ["save"]
