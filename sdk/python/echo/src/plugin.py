"""Gives back every page as it is: what an SDK must be able to do."""

from faucet_sdk import ColumnBuilder, Page, PageOut, Transform, export


@export
class Echo(Transform):
    """Gives back every page as it is, value by value or untouched"""

    name, version = "echo-python", "0.1.0"
    schema = {
        "type": "object",
        "properties": {"mode": {"enum": ["values", "pass"], "description": "Whether to read and write every value."}},
        "required": ["mode"],
        "additionalProperties": False,
    }

    def apply(self, page: Page) -> PageOut:
        """The same page."""
        out = page.output()
        return self._rewritten(page, out) if self.config["mode"] == "values" else out

    def _rewritten(self, page: Page, out: PageOut) -> PageOut:
        builders = [ColumnBuilder(column.name, column.kind, column.native) for column in page.columns]
        for row in page.rows():
            for builder in builders:
                builder.append(row[builder.name])
        for builder in builders:
            out.set(builder.finish())
        return out
