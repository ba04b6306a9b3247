"""The component of a sink: what `componentize-py` builds. The names in here are those of the WIT package."""

import plugin  # noqa: F401  (the project's own module; it exports its class)
from wit_world import exports
from wit_world.exports import sinks

from faucet_sdk import Sink as Base
from faucet_sdk import SinkCapabilities, crossing
from faucet_sdk.about import exported
from faucet_sdk.host import take_over_logging

_component = exported(Base)
take_over_logging()


class Sinks(exports.Sinks):
    """The exported interface."""

    def describe(self) -> sinks.Description:
        """What the component says about itself."""
        return sinks.Description(*crossing.described(_component), crossing.wants_out(_component.wants))

    @crossing.guarded
    def check(self, config: str) -> sinks.Capabilities:
        """Checks a configuration and says what it makes possible."""
        return _capabilities_out(_component.configured(config).check())

    @crossing.guarded
    def open(self, config: str, pipeline: str) -> "Session":
        """A session of writing."""
        return Session(config, pipeline)


class Session(sinks.Session):
    """The exported resource."""

    def __init__(self, config: str, pipeline: str) -> None:
        self._sink = _component.configured(config)
        self._sink.check()
        self._sink.open(pipeline)

    @crossing.guarded
    def last_token(self, scope: str) -> str | None:
        """The token of the last commit."""
        return self._sink.last_token(scope)

    @crossing.guarded
    def write(self, pages: list) -> list:
        """Writes rows, and says which it rejected."""
        pages = [crossing.page_in(page) for page in pages]
        self._sink.write(pages)
        rejected, first = [], 0
        for page in pages:
            rejected += crossing.rejects(page, first)
            first += page.row_count
        return rejected

    @crossing.guarded
    def commit(self, token: tuple[str, str] | None) -> None:
        """Makes what was written durable."""
        self._sink.commit(token)

    @crossing.guarded
    def finish(self) -> None:
        """The source has ended."""
        self._sink.finish()


def _capabilities_out(found: SinkCapabilities) -> sinks.Capabilities:
    return sinks.Capabilities(
        sinks.WriteMode[found.mode.upper()],
        [sinks.WriteMode[mode.upper()] for mode in found.modes],
        list(found.key),
        found.delete_marker,
        found.transactional,
        found.tokens,
        found.evolves,
        found.rejects,
        found.parallel,
    )
