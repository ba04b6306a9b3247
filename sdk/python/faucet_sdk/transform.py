"""What the author of a transform writes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from .about import Component
from .errors import Error
from .output import PageOut
from .page import Page


class Transform(Component):
    """A transform of pages.

    ```python
    @export
    class Uppercase(Transform):
        \"\"\"Turns text columns to upper case\"\"\"

        name, version = "uppercase", "0.1.0"

        def apply(self, page):
            return page.output().map_text(self.config["columns"], str.upper)
    ```
    """

    deterministic: ClassVar[bool] = True
    """Whether the same page always gives the same output."""

    def open(self) -> None:
        """Called once, before the first page: checks `self.config` beyond its schema and prepares what pages need."""

    def apply(self, page: Page) -> PageOut | Iterable[PageOut]:
        """Transforms one page: returns an output page or a list of them; an empty list filters every row out. State
        kept between calls must be a cache, never a result: a page may be tried again on a fresh instance."""
        raise NotImplementedError


def pages_out(answer: PageOut | Iterable[PageOut]) -> list[PageOut]:
    """What `apply` returned as a list; for the SDK."""
    if isinstance(answer, PageOut):
        return [answer]
    if not isinstance(answer, (list, tuple)) or not all(isinstance(page, PageOut) for page in answer):
        raise Error(f"apply returned {type(answer).__name__}: it must return page.output() or a list of such pages")
    return list(answer)
