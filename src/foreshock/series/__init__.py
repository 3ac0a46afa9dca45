"""Series and matrices: what orders models, and what each scored."""

from foreshock.series._types import Matrix, Panel, Point, Series

__all__ = ["Matrix", "Panel", "Point", "Series"]
