"""Codes E11xx: incompatible changes between two versions of a schema file, and allow-lists.

An example contains both versions: the older one under `# OLD`, the newer one under `# NEW`.
"""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example

OLD_MARK = "# OLD\n"
NEW_MARK = "# NEW\n"

_SCALE = "scale(Tensor self, float factor) -> Tensor"
_SCALED = "scale(Tensor self, float factor=1.0) -> Tensor"
_OUT = "scale.out(Tensor[] self, *, Tensor(a!)[] out"
_SPLIT = "halves(Tensor self) -> (Tensor low, Tensor high)"


def _entry(func: str, *lines: str) -> str:
    return "".join((f"- func: {func}\n", *(f"  {line}\n" for line in lines)))


def _versions(old: str, new: str) -> str:
    return f"{OLD_MARK}{old}\n{NEW_MARK}{new}"


def _code(code: str, title: str, explanation: str, old: str, new: str, fixed: str) -> Code:
    """Build a code whose example is a pair of schemas; `fixed` is the newer one after the fix."""
    failing = _versions(_entry(old), _entry(new))
    return Code(code, title, explanation, Example(failing, _versions(_entry(old), _entry(fixed))))


REMOVED_OPERATOR = Code(
    "E1101",
    "an operator was removed",
    "Programs that call the operator, and saved programs that name it, no longer run. Keep the operator, perhaps "
    "as a composite of its successor.",
    Example(
        _versions(_entry(_SCALE), _entry("rescale(Tensor self, float factor) -> Tensor")),
        _versions(
            _entry(_SCALE), _entry(_SCALE) + _entry("rescale(Tensor self, float factor) -> Tensor")
        ),
    ),
)
REMOVED_OVERLOAD = Code(
    "E1102",
    "an overload was removed",
    "The operator has other overloads, but saved programs name this one. Overload names are part of the "
    "interface: keep them, and give new overloads new names.",
    Example(
        _versions(_entry(_SCALE), _entry(_SCALE.replace("scale(", "scale.float("))),
        _versions(_entry(_SCALE), _entry(_SCALE)),
    ),
)
REMOVED_ARGUMENT = _code(
    "E1103",
    "an argument was removed",
    "Calls that pass this argument fail. Keep the argument, even if it is no longer used.",
    _SCALE,
    "scale(Tensor self) -> Tensor",
    _SCALE,
)
RENAMED_ARGUMENT = _code(
    "E1104",
    "an argument was renamed",
    "Python code and saved programs can pass any argument by name, so its name is part of the interface.",
    _SCALE,
    "scale(Tensor self, float by) -> Tensor",
    _SCALE,
)
REORDERED_ARGUMENTS = _code(
    "E1105",
    "the arguments were reordered",
    "Callers pass arguments by position, and saved programs store only positions.",
    "mix(Tensor self, float left, float right) -> Tensor",
    "mix(Tensor self, float right, float left) -> Tensor",
    "mix(Tensor self, float left, float right) -> Tensor",
)
INSERTED_ARGUMENT = _code(
    "E1106",
    "a new argument comes before old ones",
    "Arguments that callers pass by position now arrive one position later. Add a new argument at the end "
    "(before the out arguments), and give it a default.",
    _SCALED,
    "scale(Tensor self, float bias=0.0, float factor=1.0) -> Tensor",
    "scale(Tensor self, float factor=1.0, float bias=0.0) -> Tensor",
)
NEW_ARGUMENT_WITHOUT_DEFAULT = _code(
    "E1107",
    "a new argument has no default",
    "Callers of the older version do not pass this argument. Give it a default that keeps the old behaviour.",
    _SCALE,
    "scale(Tensor self, float factor, float bias) -> Tensor",
    "scale(Tensor self, float factor, float bias=0.0) -> Tensor",
)
NEW_ARGUMENT_WITH_LIST_DEFAULT = _code(
    "E1108",
    "the default of a new argument is a list",
    "A program saved by the newer version leaves out new arguments that have their default, so that the older "
    "version can run it. It does not leave out defaults that are lists. Reported with --forward.",
    _SCALE,
    "scale(Tensor self, float factor, int[] dims=[]) -> Tensor",
    "scale(Tensor self, float factor, int[]? dims=None) -> Tensor",
)
KEYWORD_ONLY_MOVED = _code(
    "E1109",
    "an argument can no longer be passed by position",
    "The argument now comes after the '*'. The opposite change is compatible: a keyword-only argument may become "
    "positional if no other argument moves.",
    _SCALE,
    "scale(Tensor self, *, float factor) -> Tensor",
    _SCALE,
)
CHANGED_ARGUMENT_TYPE = _code(
    "E1110",
    "the type of an argument changed",
    "A type may only become wider: float may become float? or Scalar, and int may become SymInt. The size of a "
    "list must not change. With --forward, the type must not become wider either.",
    _SCALE,
    "scale(Tensor self, Tensor factor) -> Tensor",
    "scale(Tensor self, Scalar factor) -> Tensor",
)
CHANGED_DEFAULT = _code(
    "E1111",
    "the default of an argument changed",
    "Callers that leave the argument out get other results, without an error. Two spellings of the same value, "
    "such as 1e-1 and 0.1, are not a change.",
    _SCALED,
    "scale(Tensor self, float factor=2.0) -> Tensor",
    "scale(Tensor self, float factor=1.) -> Tensor",
)
REMOVED_DEFAULT = _code(
    "E1112",
    "an argument lost its default",
    "Callers that leave the argument out fail.",
    _SCALED,
    _SCALE,
    _SCALED,
)
ADDED_DEFAULT = _code(
    "E1113",
    "an argument gained a default",
    "A program saved by the newer version may leave this argument out, and the older version then fails. "
    "Reported with --forward.",
    _SCALE,
    _SCALED,
    _SCALE,
)
CHANGED_ARGUMENT_ALIAS = _code(
    "E1114",
    "the alias annotation of an argument changed",
    "Compilers rely on the annotation to know which arguments are written or share memory. It is part of the "
    "interface, including its letters. A keyword-only argument that is written is an out argument.",
    "scale(Tensor self, Tensor noise) -> Tensor",
    "scale(Tensor self, Tensor(a!) noise) -> Tensor",
    "scale(Tensor self, Tensor noise) -> Tensor",
)
NEW_OUT_ARGUMENT = Code(
    "E1115",
    "a new out argument",
    "Out arguments have no defaults, so callers of the older version fail. Add an overload instead.",
    Example(
        _versions(_entry(f"{_OUT}) -> ()"), _entry(f"{_OUT}, Tensor(b!)[] rest) -> ()")),
        _versions(
            _entry(f"{_OUT}) -> ()"),
            _entry(f"{_OUT}) -> ()")
            + _entry(f"{_OUT}, Tensor(b!)[] rest) -> ()".replace("scale.out", "scale.rest_out")),
        ),
    ),
)
CHANGED_NUMBER_OF_RETURNS = _code(
    "E1116",
    "the number of returns changed",
    "Callers use a single value directly, and unpack several. Give the operator with the new returns another "
    "overload name.",
    _SCALE,
    "scale(Tensor self, float factor) -> (Tensor, Tensor)",
    _SCALE,
)
CHANGED_RETURN_TYPE = _code(
    "E1117",
    "the type of a return changed",
    "Callers rely on the type of a return. It may only become narrower: Tensor? may become Tensor.",
    "norm2(Tensor self) -> float",
    "norm2(Tensor self) -> Tensor",
    "norm2(Tensor self) -> float",
)
RENAMED_RETURN = _code(
    "E1118",
    "the name of a return changed",
    "In Python, the names of returns are the fields of the returned named tuple.",
    _SPLIT,
    "halves(Tensor self) -> (Tensor low, Tensor upper)",
    _SPLIT,
)
CHANGED_RETURN_ALIAS = _code(
    "E1119",
    "the alias annotation of a return changed",
    "Whether a result shares its storage with an argument is part of the interface: if it does, code that writes "
    "to the result also writes to the argument.",
    "part(Tensor(a) self) -> Tensor(a)",
    "part(Tensor(a) self) -> Tensor",
    "part(Tensor(a) self) -> Tensor(a)",
)
LOST_COMPOSITE_KERNEL = Code(
    "E1120",
    "an operator lost its kernel for all backends",
    "Backends without a kernel of their own (including other people's) used the composite kernel, and now fail. "
    "Keep the composite kernel, and add kernels for single backends to it.",
    Example(
        _versions(_entry(_SCALE), _entry(_SCALE, "dispatch:", "  CPU: scale_cpu")),
        _versions(
            _entry(_SCALE),
            _entry(_SCALE, "dispatch:", "  CPU: scale_cpu", "  CompositeExplicitAutograd: scale"),
        ),
    ),
)
REMOVED_VARIANT = Code(
    "E1121",
    "an operator is no longer a function or a method",
    "The operator was a function or a method of Tensor, and is no longer one. An operator can be both; keep both.",
    Example(
        _versions(_entry(_SCALE, "variants: function, method"), _entry(_SCALE)),
        _versions(
            _entry(_SCALE, "variants: function, method"),
            _entry(_SCALE, "variants: function, method"),
        ),
    ),
)
MOVED_PYTHON_MODULE = Code(
    "E1122",
    "an operator moved to another Python module",
    "Programs that call the operator in its old module fail.",
    Example(
        _versions(_entry(_SCALE, "python_module: nn"), _entry(_SCALE, "python_module: special")),
        _versions(_entry(_SCALE, "python_module: nn"), _entry(_SCALE, "python_module: nn")),
    ),
)
E1150 = Code(
    "E1150",
    "an invalid line in an allow-list",
    "A line names operators by a regular expression (a plain name is one) and may end in a date such as "
    "2030-12-31. `#` begins a comment. opgen rejects expressions that could take very long: those that repeat a "
    "group, contain a back-reference, or have more than three of `*`, `+` and `{`.",
    Example("scale(.out 2030-12-31\n", "scale.out 2030-12-31  # until the next release\n"),
    file="allowed.txt",
)
W1151 = Code(
    "W1151",
    "a line of an allow-list has expired",
    "The date of the line has passed, so the changes that it allowed are reported again. Remove the line, or "
    "give it a later date.",
    Example("scale.out 2001-12-31\n", "scale.out 9999-12-31\n"),
    file="allowed.txt",
)
W1152 = Code(
    "W1152",
    "a line of an allow-list allows nothing",
    "No reported change concerns an operator that the line matches. Remove the line; otherwise it would hide a "
    "later change.",
    Example("no_such_operator\n", "scale.out\n"),
    file="allowed.txt",
)

KINDS = (
    *(REMOVED_OPERATOR, REMOVED_OVERLOAD, REMOVED_ARGUMENT, RENAMED_ARGUMENT, REORDERED_ARGUMENTS),
    *(INSERTED_ARGUMENT, NEW_ARGUMENT_WITHOUT_DEFAULT, NEW_ARGUMENT_WITH_LIST_DEFAULT),
    *(KEYWORD_ONLY_MOVED, CHANGED_ARGUMENT_TYPE, CHANGED_DEFAULT, REMOVED_DEFAULT, ADDED_DEFAULT),
    *(CHANGED_ARGUMENT_ALIAS, NEW_OUT_ARGUMENT, CHANGED_NUMBER_OF_RETURNS, CHANGED_RETURN_TYPE),
    *(RENAMED_RETURN, CHANGED_RETURN_ALIAS, LOST_COMPOSITE_KERNEL, REMOVED_VARIANT),
    MOVED_PYTHON_MODULE,
)
CODES = (*KINDS, E1150, W1151, W1152)
