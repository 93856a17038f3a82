"""Codes E0851 to E0855: errors in domains.yaml, which says what operators are verified at."""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example

FILE = "domains.yaml"
_GOOD = "mylib::decibels:\n  values:\n    self: {between: [0.1, 10]}\n"

E0851 = Code(
    "E0851",
    "a file of domains is not a mapping",
    "domains.yaml maps names of operators, with their namespaces, to what is drawn for `opgen verify`.",
    Example("- mylib::decibels\n", _GOOD),
    file=FILE,
)
E0852 = Code(
    "E0852",
    "an unknown key of a domain",
    "The keys are values, shapes, dtypes, skip, unspecified, non_differentiable and why. A value has the keys between, "
    "away_from and one_of.",
    Example("mylib::decibels:\n  value:\n    self: {between: [0.1, 10]}\n", _GOOD),
    file=FILE,
)
E0853 = Code(
    "E0853",
    "a value of the wrong type in a domain",
    "'values' maps arguments to `{between: [low, high]}`, `{away_from: [points], by: distance}` or `{one_of: [values]}`; "
    "'shapes' maps them to lists of numbers and letters, each letter for one size; 'skip' maps properties to reasons.",
    Example("mylib::decibels:\n  values:\n    self: positive\n", _GOOD),
    file=FILE,
)
E0854 = Code(
    "E0854",
    "a range of a domain has no numbers",
    "The first number of 'between' is below the second.",
    Example("mylib::decibels:\n  values:\n    self: {between: [10, 0.1]}\n", _GOOD),
    file=FILE,
)

E0855 = Code(
    "E0855",
    "an unknown name in a file of domains",
    "Operators, arguments, properties and dtypes are spelled as in the schemas of the library and in reports of "
    "`opgen verify`. Names of operators in namespaces that are not loaded are allowed.",
    Example(
        "mylib::decibels:\n  skip:\n    vmapp: a batching rule follows\n",
        "mylib::decibels:\n  skip:\n    vmap: a batching rule follows\n",
    ),
    file=FILE,
)

CODES = (E0851, E0852, E0853, E0854, E0855)
