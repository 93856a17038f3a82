"""The records of E116x and W116x to W118x: what `opgen import` cannot read, or cannot say in YAML.

An example is a source; those of libraries and of files that are in the way have none.
"""

from __future__ import annotations

from opgen.diagnostics.codes import Code

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


def _code(code: str, title: str, explanation: str, failing: str = _GOOD, mended: str = "") -> Code:
    return Code(code, title, explanation, failing, mended or _GOOD, file=CPP)


_SCALE = 'm.def("scale(Tensor x, float by) -> Tensor");'
_FUNCTION = "at::Tensor scale_cpu(const at::Tensor& x, double by);"
_IMPL = 'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale", &scale_cpu); }'
_PY_LIBRARY = 'import torch\n\nlib = torch.library.Library("demo", "DEF")\n'
_PY_DEFINE = 'lib.define("scale(Tensor x, float by) -> Tensor")\n'

UNKNOWN_NAMESPACE = _code(
    "E1160",
    "a namespace that only the build knows",
    "The library's namespace is a macro, such as TORCH_EXTENSION_NAME, that no given file defines: the build "
    "passes it on the compiler's command line. Pass it here, too: -D TORCH_EXTENSION_NAME=_C, or --namespace _C "
    "if there is only one. --namespace also helps where the namespace of a library in Python is not a constant.",
    _source("TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {", f"  {_SCALE}", "}"),
)
NOTHING_FOUND = _code(
    "E1161",
    "the sources register nothing",
    "No file contains a registration that could be read: a TORCH_LIBRARY block, a torch.library.Library or a "
    "custom_op. pybind11 modules and torch::autograd::Function do not register operators.",
    '#include <torch/extension.h>\n\nPYBIND11_MODULE(demo, m) {\n  m.def("scale", &scale);\n}\n',
)
IN_THE_WAY = _code(
    "E1162",
    "a file is there already",
    "`opgen import` writes files that people edit afterwards, so it does not overwrite one. Choose another name, "
    "or pass --force.",
)
LIBRARY_FAILED = _code(
    "E1163",
    "a library cannot be asked",
    "The library or module is loaded in a new process of the Python that runs opgen, after `import torch`. The "
    "process failed or did not finish; the message shows its last line of output.",
)
NO_SUCH_SOURCE = _code(
    "E1164",
    "no source at a path",
    "SOURCES are files, folders and patterns such as 'csrc/**/*.cpp'. This one matches no file with an extension "
    "of C++, CUDA or Python.",
)

NOT_UNDERSTOOD = _code(
    "W1160",
    "a registration that cannot be read",
    "What is registered is known only at run time, or hidden by a macro of the sources' own. opgen reads string "
    "literals, adjacent literals, and constants and macros that are defined as such. Write the entry by hand.",
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
    "A row of `dispatch` names a function, and a lambda has no name. The row is written as a comment. Turn the "
    "lambda into a named function, and put its name there.",
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
    "a kernel that is no plain function",
    "A row of `dispatch` cannot name a boxed kernel, a functor or the result of a call. The row is written as a "
    "comment. Keep registering such kernels by hand, next to what opgen generates. "
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
    "hold it. Keep it where it is.",
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
    "Rows of `dispatch` name C++ functions. Python can keep registering its kernels after the generated library "
    "is loaded: the operator is the same. Fake kernels (register_fake) and formulas (register_autograd) are "
    "registered there, too.",
    _PY_LIBRARY + _PY_DEFINE + 'lib.impl("scale", lambda x, by: x * by, "CPU")\n',
    _PY_LIBRARY + _PY_DEFINE,
    file=PYTHON,
)
NO_SCHEMA = _code(
    "W1165",
    "an operator without a schema",
    'PyTorch infers the schema of m.def("name", &f) from the type of f, and that of a custom_op from its '
    "annotations. Here the function is not in the given sources, is overloaded, or has a type without a schema "
    "type. Pass the file that declares it, or write the schema.",
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
    "file has one entry per operator: the first is written, the other becomes a comment.",
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
    "The sources register two kernels for one operator and dispatch key, for example in two branches of an #if. A "
    "row names one: the first is written, the other becomes a comment.",
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
    "a text that is no schema",
    "A schema has the form `name(arguments) -> returns`. PyTorch would refuse this text when the library is "
    "loaded, so there is no entry for it.",
    _in_library(
        'm.def("scale(Tensor x, float by -> Tensor");', 'm.def("neg(Tensor x) -> Tensor");'
    ),
    _in_library(_SCALE, 'm.def("neg(Tensor x) -> Tensor");'),
)
OTHER_NAMESPACE = _code(
    "W1170",
    "a name with another namespace than its library",
    "The name has a namespace that differs from its library's. PyTorch refuses that when the library is loaded. "
    "The entry keeps the namespace of the name.",
    _in_library('m.def("dmeo::scale(Tensor x, float by) -> Tensor");'),
    _in_library('m.def("demo::scale(Tensor x, float by) -> Tensor");'),
)
CANNOT_CALL = _code(
    "W1171",
    "a function that no other file can call",
    "With --kernels-as-they-are, generated registration calls the existing functions. A function that is static "
    "or in an unnamed namespace can be called only in its own file, a template only where it is instantiated, and "
    "a kernel on the stable ABI uses another tensor class. The row is written as a comment until the function can "
    "be called: drop `static`, move it out of the unnamed namespace, or instantiate the template (`template "
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
    "The sources declare several functions of this name, so `&f` is ambiguous. The row is written as a comment "
    "until the kernel has a name of its own.",
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
    "With --kernels-as-they-are, a row has the function's full name, which follows from its declaration. Pass the "
    "header or source that declares it.",
    _source("TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL),
    _source(_FUNCTION, "TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL),
)
UNKNOWN_TYPE = _code(
    "W1174",
    "a kernel whose type only its own file knows",
    "No given header declares the function, so opgen would write a declaration, but its type uses a name that "
    "only its own file knows. Declare the function in a header and pass that, too. Until then the row is a "
    "comment.",
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
    "a file that is not read to its end",
    "A file that Python cannot parse is skipped, and so is one of more than 2 MB. Of a C++ file, 20,000 "
    "registrations are read.",
)
LEFT_OUT = _code(
    "W1176",
    "something that an entry cannot hold",
    "The registration holds more than a schema, a kernel and tags: the Python module with fake kernels "
    "(set_python_module), an explicit alias analysis, or a custom class. The entry does not include it. Custom "
    "classes stay registered by hand; an operator that takes one is imported if a given header defines the class, "
    "and is a comment otherwise. So is an operator of Python that returns one tuple, which no C++ function does.",
    _in_library('m.set_python_module("demo.fakes");', _SCALE),
    _in_library(_SCALE),
)
UNKNOWN_KEY = _code(
    "W1177",
    "a dispatch key that only the build knows",
    "The dispatch key is a macro or a value that no given file defines. Pass it: -D MY_KEY=PrivateUse1. Its rows "
    "are left out.",
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
    "a schema that PyTorch prints and cannot read",
    "The schemas of a loaded library are read as PyTorch prints them. This one does not parse back to the same "
    "schema: compare the entry with the source.",
)
INSTANCE = _code(
    "W1179",
    "an instance of a template as a kernel",
    "A row names a function, not a template instance such as `f<float>`, so it has the template's name alone. "
    "Write a function of that name that calls the instance. With --kernels-as-they-are the instance itself is "
    "called, if the sources instantiate it explicitly.",
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
    "more problems than are reported",
    "Reports stop after a thousand warnings: more often have one cause. Fix some, and run it again.",
)
NEEDLESS_FAKE = Code(
    "W1181",
    "a fake kernel of an operator whose Meta kernel is generated",
    "An operator that returns nothing, or only arguments that it writes, needs no computation on Meta, so opgen "
    "generates its Meta kernel, which serves as its fake kernel. One in Python that is registered later takes its "
    "place: PyTorch 2.13 allows that without a word, and raises RuntimeError with allow_override=False. "
    "Remove the one in Python. (A fake kernel that also checks its arguments may stay.)",
    'import torch\n\nlib = torch.library.Library("demo", "DEF")\nlib.define("fill(Tensor! x) -> ()")\n'
    'lib.impl("fill", torch.library.fallthrough_kernel, "CPU")\n\n\n'
    '@torch.library.register_fake("demo::fill")\ndef _(x):\n    pass\n',
    'import torch\n\nlib = torch.library.Library("demo", "DEF")\nlib.define("fill(Tensor! x) -> ()")\n'
    'lib.impl("fill", torch.library.fallthrough_kernel, "CPU")\n',
    file=PYTHON,
)

CODES: tuple[Code, ...] = tuple(value for value in list(vars().values()) if isinstance(value, Code))
