"""The component of a transform: what `componentize-py` builds. The names in here are those of the WIT package."""

import plugin  # noqa: F401  (the project's own module; it exports its class)
from wit_world import exports
from wit_world.exports import transforms

from faucet_sdk import Transform as Base
from faucet_sdk import crossing
from faucet_sdk.about import exported
from faucet_sdk.host import take_over_logging
from faucet_sdk.transform import pages_out

_component = exported(Base)
take_over_logging()


class Transforms(exports.Transforms):
    """The exported interface."""

    def describe(self) -> transforms.Description:
        """What the component says about itself."""
        wants = crossing.wants_out(_component.wants)
        return transforms.Description(*crossing.described(_component), _component.deterministic, wants)

    @crossing.guarded
    def open(self, config: str) -> "Transform":
        """A transform with its configuration."""
        return Transform(config)


class Transform(transforms.Transform):
    """The exported resource."""

    def __init__(self, config: str) -> None:
        self._transform = _component.configured(config)
        self._transform.open()

    @crossing.guarded
    def apply(self, page):
        """Transforms one page."""
        page = crossing.page_in(page)
        return crossing.output(page, pages_out(self._transform.apply(page)))
