"""Counts from one number to another."""

from faucet_sdk import Batch, Bookmark, ConfigError, PageBuilder, Source, SourceCapabilities, export

ROW_BYTES = 8


@export
class Count(Source):
    """Counts from `start` to `end`"""

    name, version = "NAME", "0.1.0"
    capabilities = SourceCapabilities(replayable=True)
    schema = {
        "type": "object",
        "properties": {
            "start": {"type": "integer", "minimum": 0, "default": 1, "description": "The first number."},
            "end": {"type": "integer", "minimum": 0, "description": "The number to stop before."},
            "page_rows": {"type": "integer", "minimum": 1, "default": 1000, "description": "Rows of a page, at most."},
        },
        "required": ["end"],
        "additionalProperties": False,
    }

    def check(self) -> SourceCapabilities:
        """Checks what the schema can't say."""
        if self.config["end"] < self.config["start"]:
            raise ConfigError("end", "comes before start")
        return self.capabilities

    def open(self, bookmark: Bookmark | None) -> None:
        """Starts where the bookmark says, or at the beginning."""
        self.next = bookmark.json()["next"] if bookmark else self.config["start"]

    def read(self, max_bytes: int) -> Batch | None:
        """One page, and a bookmark behind it."""
        rows = min(self.config["page_rows"], max(1, max_bytes // ROW_BYTES), self.config["end"] - self.next)
        if rows <= 0:
            return None
        page = PageBuilder("numbers", {"n": "int64"}, key=["n"])
        for number in range(self.next, self.next + rows):
            page.append({"n": number})
        self.next += rows
        return Batch([page.finish()], Bookmark.at(self.next, {"next": self.next}))
