"""Codes E116x and W116x to W118x: registrations that `opgen import` cannot read, or cannot express in YAML.

An example is a source file. The codes about loaded libraries and about existing files have no example.
"""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example

CPP, PYTHON = "ops.cpp", "ops.py"
_TORCH = "#include <torch/library.h>\n\n"
_GOOD = _TORCH + """\
TORCH_LIBRARY(demo, m) {
  m.def("scale(Tensor x, float by) -> Tensor");
}
"""


def _source(*lines: str) -> str:
    return _TORCH + "".join(f"{line}\n" for line in lines)


def _in_library(*lines: str) -> str:
    return _source("TORCH_LIBRARY(demo, m) {", *(f"  {line}" for line in lines), "}")


def _code(
    code: str, title: str, explanation: str, failing: str | None = None, fixed: str = _GOOD
) -> Code:
    example = None if failing is None else Example(failing, fixed)
    return Code(code, title, explanation, example, file=CPP)


_SCALE = 'm.def("scale(Tensor x, float by) -> Tensor");'
_FUNCTION = "at::Tensor scale_cpu(const at::Tensor& x, double by);"
_IMPL = 'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale", &scale_cpu); }'
_PY_LIBRARY = 'import torch\n\nlib = torch.library.Library("demo", "DEF")\n'
_PY_DEFINE = 'lib.define("scale(Tensor x, float by) -> Tensor")\n'

UNKNOWN_NAMESPACE = _code(
    "E1160",
    "an unknown namespace",
    "The library's namespace is a macro, such as TORCH_EXTENSION_NAME, that no given file defines, because the "
    "build passes it on the compiler's command line. Pass it here, too: -D TORCH_EXTENSION_NAME=_C, or "
    "--namespace _C if there is only one. Use --namespace also if the namespace of a Python library is not a "
    "constant.",
    _source("TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {", f"  {_SCALE}", "}"),
)
NOTHING_FOUND = _code(
    "E1161",
    "no registrations in the sources",
    "opgen found no registration that it can read in the files: no TORCH_LIBRARY block, no torch.library.Library "
    "and no custom_op. pybind11 modules and torch::autograd::Function do not register operators.",
    '#include <torch/extension.h>\n\nPYBIND11_MODULE(demo, m) {\n  m.def("scale", &scale);\n}\n',
)
IN_THE_WAY = _code(
    "E1162",
    "the file exists already",
    "`opgen import` writes files that people edit afterwards, so it does not overwrite existing files. Choose "
    "another name, or pass --force.",
)
LIBRARY_FAILED = _code(
    "E1163",
    "a library cannot be inspected",
    "opgen loads the library or module in a new process of the Python that runs opgen, after `import torch`. The "
    "process failed or did not finish; the message shows its last line of output.",
)
NO_SUCH_SOURCE = _code(
    "E1164",
    "no source files at a path",
    "SOURCES are files, folders and patterns such as 'csrc/**/*.cpp'. This one matches no C++, CUDA or Python "
    "file.",
)

NOT_UNDERSTOOD = _code(
    "W1160",
    "a registration that cannot be read",
    "The value is known only at run time, or is hidden by a macro defined in the sources. opgen reads string "
    "literals, adjacent literals, and constants and macros that are defined as string literals. Write the entry "
    "by hand.",
    _source(
        "#define SCALE(m, name) m.def(name)",
        "",
        "TORCH_LIBRARY(demo, m) {",
        '  SCALE(m, "scale(Tensor x, float by) -> Tensor");',
        '  m.def("mul(Tensor x, Tensor y) -> Tensor");',
        "}",
    ),
)
UNNAMED_KERNEL = _code(
    "W1161",
    "a kernel without a name",
    "A row of `dispatch` names a function, but a lambda has no name. opgen writes the row as a comment. Turn the "
    "lambda into a named function, and put its name in the row.",
    _source(
        "TORCH_LIBRARY(demo, m) {",
        f"  {_SCALE}",
        "}",
        "TORCH_LIBRARY_IMPL(demo, CPU, m) {",
        '  m.impl("scale", [](const at::Tensor& x, double by) { return x * by; });',
        "}",
    ),
    _source(_FUNCTION, "TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL),
)
OTHER_KERNEL = _code(
    "W1162",
    "a kernel that is not a plain function",
    "A row of `dispatch` cannot name a boxed kernel, a functor or the result of a call. opgen writes the row as "
    "a comment. Keep registering such kernels by hand, in addition to the generated registrations. "
    "(torch::CppFunction::makeFallthrough() becomes the row `KEY: fallthrough`.)",
    _source(
        "TORCH_LIBRARY(demo, m) {",
        f"  {_SCALE}",
        '  m.impl("scale", torch::kCPU, torch::CppFunction::makeFromBoxedFunction<&boxed>());',
        "}",
    ),
    _source(
        _FUNCTION,
        "TORCH_LIBRARY(demo, m) {",
        f"  {_SCALE}",
        '  m.impl("scale", torch::kCPU, &scale_cpu);',
        "}",
    ),
)
FALLBACK = _code(
    "W1163",
    "a fallback for a whole dispatch key",
    "m.fallback(...) registers a kernel for a whole dispatch key rather than for one operator, so no entry can "
    "represent it. Keep it in the source.",
    _source(
        "TORCH_LIBRARY(demo, m) {",
        f"  {_SCALE}",
        "}",
        "TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {",
        "  m.fallback(torch::CppFunction::makeFallthrough());",
        "}",
    ),
)
STAYS_IN_PYTHON = Code(
    "W1164",
    "a kernel that stays in Python",
    "Rows of `dispatch` name C++ functions. Python code can keep registering its kernels for the same operator "
    "after the generated library is loaded. The same holds for fake kernels (register_fake) and derivative "
    "formulas (register_autograd).",
    Example(
        _PY_LIBRARY + _PY_DEFINE + 'lib.impl("scale", lambda x, by: x * by, "CPU")\n',
        _PY_LIBRARY + _PY_DEFINE,
    ),
    file=PYTHON,
)
NO_SCHEMA = _code(
    "W1165",
    "an operator without a known schema",
    'PyTorch infers the schema of m.def("name", &f) from the type of f, and the schema of a custom_op from its '
    "annotations. Here the function is not in the given sources, is overloaded, or has a type that no schema "
    "type corresponds to. Pass the file that declares it, or write the schema.",
    _in_library('m.def("scale", &scale);', 'm.def("mul(Tensor x, Tensor y) -> Tensor");'),
    _source(
        "at::Tensor scale(const at::Tensor& x, double by);",
        "",
        "TORCH_LIBRARY(demo, m) {",
        '  m.def("scale", &scale);',
        '  m.def("mul(Tensor x, Tensor y) -> Tensor");',
        "}",
    ),
)
NOT_DEFINED = _code(
    "W1166",
    "a kernel of an operator that no source defines",
    "A row belongs to an entry, and no given source defines this operator. Pass the file that does. Kernels for "
    "PyTorch's own operators belong in a backend file: see `opgen generate --backend-yaml`.",
    _source("TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL.replace('"scale"', '"scael"')),
    _source("TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL),
)
DEFINED_TWICE = _code(
    "W1167",
    "an operator with two schemas",
    "The sources define the operator twice with different schemas, for example in two branches of an #if. A YAML "
    "file has one entry per operator: opgen writes the first, and the other as a comment.",
    _source(
        "TORCH_LIBRARY(demo, m) {",
        "#ifdef WITH_BIAS",
        '  m.def("scale(Tensor x, float by, float bias) -> Tensor");',
        "#else",
        f"  {_SCALE}",
        "#endif",
        "}",
    ),
)
TWO_KERNELS = _code(
    "W1168",
    "two kernels of an operator for one key",
    "The sources register two kernels for one operator and dispatch key, for example in two branches of an #if. "
    "A row names one kernel: opgen writes the first, and the other as a comment.",
    _source(
        "TORCH_LIBRARY(demo, m) {",
        f"  {_SCALE}",
        "}",
        "TORCH_LIBRARY_IMPL(demo, CPU, m) {",
        "#ifdef FAST",
        '  m.impl("scale", &scale_fast);',
        "#else",
        '  m.impl("scale", &scale_slow);',
        "#endif",
        "}",
    ),
    _source("TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL),
)
NO_SUCH_SCHEMA = _code(
    "W1169",
    "a string that is not a schema",
    "A schema has the form `name(arguments) -> returns`. PyTorch would reject this string when it loads the "
    "library, so opgen writes no entry for it.",
    _in_library(
        'm.def("scale(Tensor x, float by -> Tensor");', 'm.def("neg(Tensor x) -> Tensor");'
    ),
    _in_library(_SCALE, 'm.def("neg(Tensor x) -> Tensor");'),
)
OTHER_NAMESPACE = _code(
    "W1170",
    "a name with another namespace than its library",
    "The name has another namespace than its library. PyTorch rejects that when it loads the library. The entry "
    "keeps the namespace of the name.",
    _in_library('m.def("dmeo::scale(Tensor x, float by) -> Tensor");'),
    _in_library('m.def("demo::scale(Tensor x, float by) -> Tensor");'),
)
CANNOT_CALL = _code(
    "W1171",
    "a function that no other file can call",
    "With --kernels-as-they-are, the generated registrations call the existing functions. A static function, or "
    "one in an unnamed namespace, can be called only in its own file; a template can be called only where it is "
    "instantiated; and a kernel on the stable ABI uses another tensor class. opgen writes the row as a comment. "
    "Remove `static`, move the function out of the unnamed namespace, or instantiate the template (`template "
    "at::Tensor f<float>(const at::Tensor&);`).",
    _source(
        _FUNCTION.replace("at::", "static at::", 1),
        "TORCH_LIBRARY(demo, m) {",
        f"  {_SCALE}",
        "}",
        _IMPL,
    ),
    _source(_FUNCTION, "TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL),
)
AMBIGUOUS = _code(
    "W1172",
    "an overloaded kernel",
    "The sources declare several functions of this name, so `&f` is ambiguous. opgen writes the row as a "
    "comment. Give the kernel a unique name.",
    _source(
        _FUNCTION,
        "at::Tensor scale_cpu(const at::Tensor& x, const at::Tensor& by);",
        "TORCH_LIBRARY(demo, m) {",
        f"  {_SCALE}",
        "}",
        _IMPL,
    ),
    _source(_FUNCTION, "TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL),
)
NOT_DECLARED = _code(
    "W1173",
    "a kernel that no given source declares",
    "With --kernels-as-they-are, a row contains the function's full name, which opgen takes from its "
    "declaration. Pass the header or source that declares it.",
    _source("TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL),
    _source(_FUNCTION, "TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL),
)
UNKNOWN_TYPE = _code(
    "W1174",
    "a kernel type that only its own file can name",
    "No given header declares the function, so opgen would have to write a declaration, but the function's type "
    "uses a name that is visible only in its own file. Declare the function in a header, and pass that header, "
    "too. Until then, opgen writes the row as a comment.",
    _source(
        "struct Factor { double by; };",
        "at::Tensor scale_cpu(const at::Tensor& x, Factor by);",
        "TORCH_LIBRARY(demo, m) {",
        f"  {_SCALE}",
        "}",
        _IMPL,
    ),
    _source(_FUNCTION, "TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL),
)
NOT_READ = _code(
    "W1175",
    "a file that is not read completely",
    "opgen skips Python files that Python cannot parse, and files of more than 2 MB. In a C++ file, it reads up "
    "to 20,000 registrations.",
)
LEFT_OUT = _code(
    "W1176",
    "a registration that an entry cannot fully represent",
    "The registration contains more than a schema, a kernel and tags: the Python module with fake kernels "
    "(set_python_module), an explicit alias analysis, or a custom class. The entry leaves it out. Keep "
    "registering custom classes by hand. opgen imports an operator that takes a custom class if a given header "
    "defines the class, and otherwise writes it as a comment. It also writes a Python operator that returns a "
    "one-element tuple as a comment, because no C++ function returns one.",
    _in_library('m.set_python_module("demo.fakes");', _SCALE),
    _in_library(_SCALE),
)
UNKNOWN_KEY = _code(
    "W1177",
    "an unknown dispatch key",
    "The dispatch key is a macro or a value that no given file defines, so opgen leaves its rows out. Pass the "
    "definition: -D MY_KEY=PrivateUse1.",
    _source(
        _FUNCTION,
        "TORCH_LIBRARY(demo, m) {",
        f"  {_SCALE}",
        "}",
        _IMPL.replace("CPU,", "DEMO_KEY,"),
    ),
    _source(_FUNCTION, "TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL),
)
NOT_PRINTED = _code(
    "W1178",
    "a schema that PyTorch prints but cannot parse",
    "opgen reads the schemas of a loaded library in the form in which PyTorch prints them. This one does not "
    "parse back to the same schema. Compare the entry with the source.",
)
INSTANCE = _code(
    "W1179",
    "a template instance as a kernel",
    "A row names a function, not a template instance such as `f<float>`, so opgen writes the template's name "
    "alone. Write a function of that name that calls the instance. With --kernels-as-they-are, the generated "
    "code calls the instance itself, if the sources instantiate it explicitly.",
    _source(
        "TORCH_LIBRARY(demo, m) {",
        f"  {_SCALE}",
        "}",
        _IMPL.replace("&scale_cpu", "&scale_cpu<float>"),
    ),
    _source(_FUNCTION, "TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL),
)
MORE = _code(
    "W1180",
    "too many warnings",
    "opgen stops after a thousand warnings. So many often have one cause. Fix some, and run it again.",
)
NEEDLESS_FAKE = Code(
    "W1181",
    "a fake kernel of an operator whose Meta kernel is generated",
    "An operator that returns nothing, or only arguments that it writes, needs no computation on Meta, so opgen "
    "generates its Meta kernel, which also serves as its fake kernel. A fake kernel that Python registers later "
    "replaces it: PyTorch 2.13 does so silently, and raises RuntimeError with allow_override=False. Remove the "
    "fake kernel in Python. (You may keep one that also checks its arguments.)",
    Example(
        'import torch\n\nlib = torch.library.Library("demo", "DEF")\nlib.define("fill(Tensor! x) -> ()")\n'
        'lib.impl("fill", torch.library.fallthrough_kernel, "CPU")\n\n\n'
        '@torch.library.register_fake("demo::fill")\ndef _(x):\n    pass\n',
        'import torch\n\nlib = torch.library.Library("demo", "DEF")\nlib.define("fill(Tensor! x) -> ()")\n'
        'lib.impl("fill", torch.library.fallthrough_kernel, "CPU")\n',
    ),
    file=PYTHON,
)

CODES: tuple[Code, ...] = tuple(value for value in list(vars().values()) if isinstance(value, Code))
