"""Parse YAML files and schemas as values of `opgen.model`. Errors are reported to a collector, never raised."""

from opgen.parse.entries.comments import Allow, read_allows
from opgen.parse.files.backend import parse_backend
from opgen.parse.files.derivatives import parse_derivatives
from opgen.parse.files.native_functions import Parsed, builtin_tags, parse_entries, parse_tags
from opgen.parse.files.selective import parse_selective
from opgen.parse.schema.grammar import SchemaCache, parse_function_schema
from opgen.parse.yaml.nodes import decode_source

# The code for missing or superfluous white space in a schema.
SPACING = "E0302"

__all__ = [
    "SPACING",
    "Allow",
    "Parsed",
    "SchemaCache",
    "builtin_tags",
    "decode_source",
    "parse_backend",
    "parse_derivatives",
    "parse_entries",
    "parse_function_schema",
    "parse_selective",
    "parse_tags",
    "read_allows",
]
