"""The component of a source: what `componentize-py` builds. The names in here are those of the WIT package."""

import plugin  # noqa: F401  (the project's own module; it exports its class)
from wit_world import exports
from wit_world.exports import sources
from wit_world.imports import types

from faucet_sdk import Batch, Bookmark, ChangePage, Page, crossing
from faucet_sdk import Source as Base
from faucet_sdk.about import exported
from faucet_sdk.host import take_over_logging

_component = exported(Base)
take_over_logging()


class Sources(exports.Sources):
    """The exported interface."""

    def describe(self) -> sources.Description:
        """What the component says about itself."""
        return sources.Description(*crossing.described(_component), crossing.wants_out(_component.wants))

    @crossing.guarded
    def check(self, config: str) -> sources.Capabilities:
        """Checks a configuration and says what it makes possible."""
        found = _component.configured(config).check()
        return sources.Capabilities(found.changes, found.capture, found.replayable)

    @crossing.guarded
    def discover(self, config: str) -> list:
        """The tables there are."""
        found = _component.configured(config).discover()
        return [sources.Discovered(types.TableId(each.schema, each.table), list(each.key)) for each in found]

    @crossing.guarded
    def capture(self, config: str) -> sources.Bookmark:
        """Where the source stands now."""
        return _bookmark_out(_component.configured(config).capture())

    @crossing.guarded
    def open(self, config: str, bookmark: sources.Bookmark | None) -> "Session":
        """A session at a bookmark, or at the beginning."""
        return Session(config, bookmark)


class Session(sources.Session):
    """The exported resource."""

    def __init__(self, config: str, bookmark: sources.Bookmark | None) -> None:
        self._source = _component.configured(config)
        self._source.check()
        self._source.open(bookmark and _bookmark_in(bookmark))

    @crossing.guarded
    def read(self, max_bytes: int):
        """The next batch."""
        batch = self._source.read(max_bytes)
        return batch and _batch_out(batch)

    @crossing.guarded
    def confirm(self, bookmark: sources.Bookmark) -> None:
        """Everything up to the bookmark is durable."""
        self._source.confirm(_bookmark_in(bookmark))


def _bookmark_in(bookmark: sources.Bookmark) -> Bookmark:
    return Bookmark(bookmark.position, bookmark.state)


def _bookmark_out(bookmark: Bookmark) -> sources.Bookmark:
    return sources.Bookmark(bookmark.position, bookmark.state)


def _batch_out(batch: Batch) -> sources.Batch:
    bookmark = batch.bookmark and _bookmark_out(batch.bookmark)
    boundary = sources.Boundary_Commit(bookmark) if batch.ends else sources.Boundary_Inside()
    return sources.Batch([_page_out(page) for page in batch.pages], boundary, batch.wait_ms)


def _page_out(page: Page | ChangePage) -> sources.SourcePage:
    if isinstance(page, Page):
        return sources.SourcePage(crossing.page_out(page), None)
    return sources.SourcePage(crossing.page_out(page.page), _change_out(page))


def _change_out(page: ChangePage) -> sources.Change:
    width = len(page.positions[0]) if page.positions else 0
    before = None
    if page.present is not None:
        before = sources.Before(page.present, [crossing.column_out(column) for column in page.before])
    return sources.Change(page.ops, width, b"".join(page.positions), page.committed_at.data, before)
