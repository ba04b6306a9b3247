"""Hides the values of text columns."""

from collections.abc import Callable
from hashlib import sha256

from faucet_sdk import Column, ConfigError, Error, Kind, Page, PageOut, Transform, export

RULE = {
    "method": {"enum": ["hash", "redact"], "description": "How to mask. Default: redact."},
    "salt": {"type": "string", "description": "For hash: text put before the value."},
    "text": {"type": "string", "description": "For redact: what to write. Default: ***."},
}

# Which method a setting belongs to: with another one it would do nothing, so it is a mistake there.
OWNERS = {"salt": "hash", "text": "redact"}


@export
class Mask(Transform):
    """Hides the values of text columns: hash or redact"""

    name, version = "NAME", "0.1.0"
    schema = {
        "type": "object",
        "properties": {
            "columns": {
                "description": "The columns to mask: a list, or an object from column to its own settings.",
                "anyOf": [
                    {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
                    {
                        "type": "object",
                        "minProperties": 1,
                        "additionalProperties": {"type": "object", "properties": RULE, "additionalProperties": False},
                    },
                ],
            },
            **RULE,
            "on_missing": {
                "enum": ["error", "ignore"],
                "default": "error",
                "description": "What to do if a table has no such column.",
            },
        },
        "required": ["columns"],
        "additionalProperties": False,
    }

    def open(self) -> None:
        """Finds the method of every column."""
        columns = self.config["columns"]
        rules = columns if isinstance(columns, dict) else {name: {} for name in columns}
        self.masks = {name: self._mask(name, rule) for name, rule in rules.items()}

    def apply(self, page: Page) -> PageOut:
        """Masks one page."""
        out = page.output()
        for name, (method, change) in self.masks.items():
            column = page.find(name) if self.config["on_missing"] == "ignore" else page.column(name)
            if column is not None:
                check(page, column, method)
                out.set(column.map_text(change))
        return out

    def _mask(self, name: str, rule: dict) -> tuple[str, Callable[[str], str]]:
        method = rule.get("method") or self.config.get("method", "redact")
        for setting, owner in OWNERS.items():
            if setting in rule and owner != method:
                message = f"belongs to method {owner}, and this column has {method}"
                raise ConfigError(f"columns.{name}.{setting}", message)
        if method == "hash":
            return method, hashing(rule.get("salt", self.config.get("salt", "")))
        text = rule.get("text", self.config.get("text", "***"))
        return method, lambda value: text


def hashing(salt: str) -> Callable[[str], str]:
    """SHA-256 of salt and value, as 64 hex digits."""
    salted = sha256(salt.encode())

    def change(value: str) -> str:
        digest = salted.copy()
        digest.update(value.encode())
        return digest.hexdigest()

    return change


def check(page: Page, column: Column, method: str) -> None:
    """Refuses what can't be masked."""
    name = column.name
    if column.kind not in (Kind.TEXT, Kind.NATIVE):
        raise Error(f"column '{name}' is {column.kind}: only text can be masked; cast it to text before")
    if name in page.key and method != "hash":
        raise Error(
            f"column '{name}' is part of the key of table '{page.table}', and this method makes distinct keys equal; "
            "use method hash for it"
        )
