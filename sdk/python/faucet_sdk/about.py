"""What a component says about itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from . import schema as schemas
from .errors import ConfigError, Error


@dataclass(frozen=True)
class Wants:
    """What a component asks for beyond its pages. It gets what it asks for here, the configuration grants, and the
    operator allows: all three."""

    http: Sequence[str] = ()
    """Hosts it sends HTTP requests to, as `host:port`; `*` = those the configuration grants."""
    dirs: Sequence[str] = ()
    """Folders it reads, by the absolute path under which it opens them (`/reference`)."""
    write_dirs: Sequence[str] = ()
    """Folders it writes to."""
    env: Sequence[str] = ()
    """Environment variables it reads."""
    secrets: Sequence[str] = ()
    """Secrets it puts into requests, by name; `*` = those the configuration grants."""
    clock: bool = False
    """The real time, instead of a clock that stands still."""
    random: bool = False
    """Real randomness, instead of a fixed sequence."""


class Component:
    """What transforms, sources and sinks have in common.

    The summary is the first line of the class's docstring. An instance has the checked configuration, with the
    schema's defaults filled in, as `self.config`.
    """

    name: ClassVar[str] = ""
    """Short name, `[a-z0-9_-]+`."""
    version: ClassVar[str] = ""
    """Version of the component."""
    schema: ClassVar[dict[str, Any]] = {"type": "object"}
    """JSON Schema (2020-12) of the configuration; see `faucet_sdk.schema` for the keywords that are checked."""
    wants: ClassVar[Wants] = Wants()
    """What it needs beyond its pages."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config

    @classmethod
    def summary(cls) -> str:
        """One sentence: what it does."""
        return (cls.__doc__ or "").strip().partition("\n")[0]

    @classmethod
    def configured(cls, text: str) -> Component:
        """An instance with this configuration, as JSON text, checked against the schema."""
        config = json.loads(text)
        problems = list(schemas.check(cls.schema, config))
        if problems:
            raise ConfigError.of(problems)
        return cls(schemas.with_defaults(cls.schema, config))


# The class this project builds, if `export` was called.
_exported: list[type[Component]] = []


def export(component: type[Component]) -> type[Component]:
    """Makes a class the component that this project builds. Write it once, at the end of `plugin.py`, or as a
    decorator of the class."""
    for attribute in ("name", "version"):
        if not getattr(component, attribute):
            raise Error(f'class {component.__name__} needs a {attribute}: {attribute} = "..."')
    if not component.summary():
        raise Error(f"class {component.__name__} needs a docstring: its first line is the summary that users see")
    _exported[:] = [component]
    return component


def exported(base: type[Component]) -> type[Component]:
    """The exported class, which must be a `base`; for the SDK."""
    if not _exported:
        raise Error("plugin.py exports nothing: end it with faucet_sdk.export(YourClass)")
    found = _exported[0]
    if not issubclass(found, base):
        raise Error(f"class {found.__name__} is no faucet_sdk.{base.__name__}, and that is what is being built")
    return found
