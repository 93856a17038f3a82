"""The records of E11xx: what breaks between two versions of a schema file, and lists of what may.

An example holds both versions, the older one under `# OLD` and the newer one under `# NEW`.
"""

from __future__ import annotations

from opgen.diagnostics.codes import Code

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


def _code(code: str, title: str, explanation: str, old: str, new: str, mended: str) -> Code:
    """A record with an example of two schemas, and the newer one as it should be."""
    failing = _versions(_entry(old), _entry(new))
    return Code(code, title, explanation, failing, _versions(_entry(old), _entry(mended)))


REMOVED_OPERATOR = Code(
    "E1101",
    "an operator is gone",
    "Programs that call it, and saved programs that name it, no longer run. Keep the operator, perhaps "
    "as a composite of its successor.",
    _versions(_entry(_SCALE), _entry("rescale(Tensor self, float factor) -> Tensor")),
    _versions(
        _entry(_SCALE), _entry(_SCALE) + _entry("rescale(Tensor self, float factor) -> Tensor")
    ),
)
REMOVED_OVERLOAD = Code(
    "E1102",
    "an overload is gone",
    "Other overloads of the operator are left, but saved programs name this one. Overload names are "
    "part of the interface: keep them as they are, and give new overloads new names.",
    _versions(_entry(_SCALE), _entry(_SCALE.replace("scale(", "scale.float("))),
    _versions(_entry(_SCALE), _entry(_SCALE)),
)
REMOVED_ARGUMENT = _code(
    "E1103",
    "an argument is gone",
    "Callers that give it fail. Keep the argument, even if it is no longer used.",
    _SCALE,
    "scale(Tensor self) -> Tensor",
    _SCALE,
)
RENAMED_ARGUMENT = _code(
    "E1104",
    "an argument has another name",
    "Any argument can be given by its name, from Python and in saved programs.",
    _SCALE,
    "scale(Tensor self, float by) -> Tensor",
    _SCALE,
)
REORDERED_ARGUMENTS = _code(
    "E1105",
    "the arguments stand in another order",
    "Callers give arguments by position, and saved programs know nothing but positions.",
    "mix(Tensor self, float left, float right) -> Tensor",
    "mix(Tensor self, float right, float left) -> Tensor",
    "mix(Tensor self, float left, float right) -> Tensor",
)
INSERTED_ARGUMENT = _code(
    "E1106",
    "a new argument stands before old ones",
    "What callers give by position now arrives one place further. A new argument comes last (before "
    "the out arguments) and has a default.",
    _SCALED,
    "scale(Tensor self, float bias=0.0, float factor=1.0) -> Tensor",
    "scale(Tensor self, float factor=1.0, float bias=0.0) -> Tensor",
)
NEW_ARGUMENT_WITHOUT_DEFAULT = _code(
    "E1107",
    "a new argument has no default",
    "Callers of the older version do not give it. Let its default mean what was done before.",
    _SCALE,
    "scale(Tensor self, float factor, float bias) -> Tensor",
    "scale(Tensor self, float factor, float bias=0.0) -> Tensor",
)
NEW_ARGUMENT_WITH_LIST_DEFAULT = _code(
    "E1108",
    "the default of a new argument is a list",
    "A program that the newer version saves leaves out new arguments that have their default, so that "
    "the older version can run it; defaults that are lists are not left out. Reported with --forward.",
    _SCALE,
    "scale(Tensor self, float factor, int[] dims=[]) -> Tensor",
    "scale(Tensor self, float factor, int[]? dims=None) -> Tensor",
)
KEYWORD_ONLY_MOVED = _code(
    "E1109",
    "an argument can no longer be given by position",
    "It stands behind the star now. The other way is compatible: what could be given by name only may "
    "become positional, if no other argument moves.",
    _SCALE,
    "scale(Tensor self, *, float factor) -> Tensor",
    _SCALE,
)
CHANGED_ARGUMENT_TYPE = _code(
    "E1110",
    "an argument has another type",
    "A type may only become wider: float may become float? or Scalar, int may become SymInt. The size "
    "of a list must stay. With --forward, it must not become wider either.",
    _SCALE,
    "scale(Tensor self, Tensor factor) -> Tensor",
    "scale(Tensor self, Scalar factor) -> Tensor",
)
CHANGED_DEFAULT = _code(
    "E1111",
    "an argument has another default",
    "Who leaves the argument out gets other results, without an error. Two writings of one value, as "
    "1e-1 and 0.1, are no change.",
    _SCALED,
    "scale(Tensor self, float factor=2.0) -> Tensor",
    "scale(Tensor self, float factor=1.) -> Tensor",
)
REMOVED_DEFAULT = _code(
    "E1112",
    "an argument has no default any more",
    "Callers that leave the argument out fail.",
    _SCALED,
    _SCALE,
    _SCALED,
)
ADDED_DEFAULT = _code(
    "E1113",
    "an argument has a default, and had none",
    "A program that the newer version saves may leave the argument out, and the older version then "
    "misses it. Reported with --forward.",
    _SCALE,
    _SCALED,
    _SCALE,
)
CHANGED_ARGUMENT_ALIAS = _code(
    "E1114",
    "an argument has another alias annotation",
    "Compilers rely on what the annotation says is written or shared; it is part of the interface, with "
    "its letters. What is keyword-only and written is an out argument.",
    "scale(Tensor self, Tensor noise) -> Tensor",
    "scale(Tensor self, Tensor(a!) noise) -> Tensor",
    "scale(Tensor self, Tensor noise) -> Tensor",
)
NEW_OUT_ARGUMENT = Code(
    "E1115",
    "an out argument is new",
    "Out arguments have no defaults, so callers of the older version fail. Add an overload.",
    _versions(_entry(f"{_OUT}) -> ()"), _entry(f"{_OUT}, Tensor(b!)[] rest) -> ()")),
    _versions(
        _entry(f"{_OUT}) -> ()"),
        _entry(f"{_OUT}) -> ()")
        + _entry(f"{_OUT}, Tensor(b!)[] rest) -> ()".replace("scale.out", "scale.rest_out")),
    ),
)
CHANGED_NUMBER_OF_RETURNS = _code(
    "E1116",
    "an operator returns more or fewer values",
    "Callers take a single value as it is and several apart. Give the operator that returns something "
    "else another overload name.",
    _SCALE,
    "scale(Tensor self, float factor) -> (Tensor, Tensor)",
    _SCALE,
)
CHANGED_RETURN_TYPE = _code(
    "E1117",
    "a return has another type",
    "Callers use what they get. A return's type may only become narrower: Tensor? may become Tensor.",
    "norm2(Tensor self) -> float",
    "norm2(Tensor self) -> Tensor",
    "norm2(Tensor self) -> float",
)
RENAMED_RETURN = _code(
    "E1118",
    "a return has another name",
    "Names of returns are the fields of the named tuple that Python gets.",
    _SPLIT,
    "halves(Tensor self) -> (Tensor low, Tensor upper)",
    _SPLIT,
)
CHANGED_RETURN_ALIAS = _code(
    "E1119",
    "a return has another alias annotation",
    "Whether a result shares its storage with an argument is part of the interface: who writes to it "
    "writes to both, or not.",
    "part(Tensor(a) self) -> Tensor(a)",
    "part(Tensor(a) self) -> Tensor",
    "part(Tensor(a) self) -> Tensor(a)",
)
LOST_COMPOSITE_KERNEL = Code(
    "E1120",
    "an operator has no kernel for every backend any more",
    "Backends that have no kernel of their own, those of others included, used the composite kernel, "
    "and now fail. Add kernels for some backends beside it.",
    _versions(_entry(_SCALE), _entry(_SCALE, "dispatch:", "  CPU: scale_cpu")),
    _versions(
        _entry(_SCALE),
        _entry(_SCALE, "dispatch:", "  CPU: scale_cpu", "  CompositeExplicitAutograd: scale"),
    ),
)
REMOVED_VARIANT = Code(
    "E1121",
    "an operator can no longer be called in one way",
    "It was a function or a method of Tensor, and is no more. Both can be kept.",
    _versions(_entry(_SCALE, "variants: function, method"), _entry(_SCALE)),
    _versions(
        _entry(_SCALE, "variants: function, method"), _entry(_SCALE, "variants: function, method")
    ),
)
MOVED_PYTHON_MODULE = Code(
    "E1122",
    "Python finds an operator in another module",
    "Programs that call it where it was fail.",
    _versions(_entry(_SCALE, "python_module: nn"), _entry(_SCALE, "python_module: special")),
    _versions(_entry(_SCALE, "python_module: nn"), _entry(_SCALE, "python_module: nn")),
)
E1150 = Code(
    "E1150",
    "a line of an allow-list cannot be read",
    "A line names operators by a regular expression, of which a plain name is one, and may have a date "
    "as 2030-12-31 behind it. `#` begins a comment. Expressions that can take forever are refused: those "
    "that repeat a group, refer back to one, or have more than three of `*`, `+` and `{`.",
    "scale(.out 2030-12-31\n",
    "scale.out 2030-12-31  # until the next release\n",
    file="allowed.txt",
)
W1151 = Code(
    "W1151",
    "a line of an allow-list has expired",
    "Its date has passed, so the breaks that it allowed are reported again. Remove the line, or give it "
    "a later date.",
    "scale.out 2001-12-31\n",
    "scale.out 9999-12-31\n",
    file="allowed.txt",
)
W1152 = Code(
    "W1152",
    "a line of an allow-list allows nothing",
    "No break is of an operator that it matches. Remove the line, so that it does not hide a break "
    "that comes later.",
    "no_such_operator\n",
    "scale.out\n",
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
