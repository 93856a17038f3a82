"""YAML and schema texts into model values; what is wrong with them is reported, never raised."""

from opgen.parse import (
    codes_backend,
    codes_keys,
    codes_library,
    codes_schema,
    codes_selective,
    codes_yaml,
)
from opgen.parse.allow_comments import Allow, read_allows
from opgen.parse.backend_parser import parse_backend
from opgen.parse.file_namespace import is_of_pytorchs_file
from opgen.parse.native_functions import Parsed, parse_entries, parse_native_functions
from opgen.parse.schema_parser import parse_function_schema
from opgen.parse.selective_parser import parse_selective
from opgen.parse.sources import decode_source
from opgen.parse.tags_parser import builtin_tags, parse_tags
from opgen.parse.text_reader import SchemaCache

CODES = (
    *(*codes_yaml.CODES, *codes_keys.CODES, *codes_schema.CODES),
    *(*codes_library.CODES, *codes_backend.CODES, *codes_selective.CODES),
)

# The code of white space that is missing or too much in a schema.
SPACING = str(codes_schema.E0302)

__all__ = [
    "CODES",
    "SPACING",
    "Allow",
    "Parsed",
    "SchemaCache",
    "builtin_tags",
    "decode_source",
    "is_of_pytorchs_file",
    "parse_backend",
    "parse_entries",
    "parse_function_schema",
    "parse_native_functions",
    "parse_selective",
    "parse_tags",
    "read_allows",
]
