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
    "The library's namespace is a macro, such as TORCH_EXTENSION_NAME, that no file defines: the build gives it on the "
    "compiler's command line. Say what it is: -D TORCH_EXTENSION_NAME=_C, or --namespace _C if there is one. A helper "
    "of Python that defines operators takes --namespace, too.",
    _source("TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {", f"  {_SCALE}", "}"),
)
NOTHING_FOUND = _code(
    "E1161",
    "the sources register nothing",
    "None of the files holds a registration that could be read: a TORCH_LIBRARY block, a torch.library.Library, or a "
    "custom_op. pybind11 modules and torch::autograd::Function register no operators.",
    '#include <torch/extension.h>\n\nPYBIND11_MODULE(demo, m) {\n  m.def("scale", &scale);\n}\n',
)
IN_THE_WAY = _code(
    "E1162",
    "a file is there already",
    "`opgen import` makes files for people to go on with, so it overwrites none. Give another name, or --force.",
)
LIBRARY_FAILED = _code(
    "E1163",
    "a library cannot be asked",
    "The library or the module is loaded by a Python of its own, the one that runs opgen, with `import torch`. That "
    "failed, or did not end; its last words are given.",
)
NO_SUCH_SOURCE = _code(
    "E1164",
    "no source at a path",
    "SOURCES are files, folders and patterns such as 'csrc/**/*.cpp'. At this one there is nothing that is C++, CUDA "
    "or Python by its name.",
)

NOT_UNDERSTOOD = _code(
    "W1160",
    "a registration that cannot be read",
    "What is registered is not known before the program runs, or a macro of the sources' own hides it. Texts may be "
    "literals, also several, and constants and macros that are one; all else is left out, so write the entry by hand.",
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
    "A lambda has no name that a row of `dispatch` could say. The entry stands without this row, which a comment "
    "keeps. Make a function of the lambda, and name it there.",
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
    "Boxed kernels, functors and what a call returns have no place in a row of `dispatch`. The entry stands without "
    "this row, which a comment keeps. Go on registering such kernels by hand, beside what opgen generates. "
    "(torch::CppFunction::makeFallthrough() is the row `KEY: fallthrough`.)",
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
    "a kernel for all operators of a key",
    "m.fallback(...) is for a dispatch key as a whole, and of no operator: no entry says it. Keep it where it is.",
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
    "Rows of `dispatch` name C++ functions. What Python registers, it may go on registering, once the generated "
    "library is loaded: the operator is the same. A Meta kernel in Python (register_fake) is needed no more where "
    "opgen generates one.",
    _PY_LIBRARY + _PY_DEFINE + 'lib.impl("scale", lambda x, by: x * by, "CPU")\n',
    _PY_LIBRARY + _PY_DEFINE,
    file=PYTHON,
)
NO_SCHEMA = _code(
    "W1165",
    "an operator without a schema",
    'PyTorch infers the schema of m.def("name", &f) from the type of f, and that of a custom_op from annotations. '
    "Here the function is not among the given sources, is one of several, or has a type that PyTorch infers nothing "
    "from. Give the source or the header that declares it, or write the schema.",
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
    "kernels of an operator that nobody defines",
    "A row belongs to an entry, and no given source defines this operator. Give the file that does. Kernels for "
    "PyTorch's own operators go into the file of a backend: see `opgen generate --backend-yaml`.",
    _source("TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL.replace('"scale"', '"scael"')),
    _source("TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL),
)
DEFINED_TWICE = _code(
    "W1167",
    "an operator with two schemas",
    "The sources define an operator twice, perhaps in two branches of an #if, and not with the same schema. A YAML "
    "file has one entry for it: the first is written, the other is a comment.",
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
    "The sources register two functions for one operator and dispatch key, perhaps in two branches of an #if. A row "
    "names one: the first is written, the other is a comment.",
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
    "A schema is `name(arguments) -> returns`. This text is not, so PyTorch would refuse it when the library is "
    "loaded, and there is no entry for it.",
    _in_library(
        'm.def("scale(Tensor x, float by -> Tensor");', 'm.def("neg(Tensor x) -> Tensor");'
    ),
    _in_library(_SCALE, 'm.def("neg(Tensor x) -> Tensor");'),
)
OTHER_NAMESPACE = _code(
    "W1170",
    "a name of another namespace than its library",
    "The name says a namespace, and the library around it is of another one: PyTorch refuses that when the library "
    "is loaded. The entry has the namespace that the name says.",
    _in_library('m.def("dmeo::scale(Tensor x, float by) -> Tensor");'),
    _in_library('m.def("demo::scale(Tensor x, float by) -> Tensor");'),
)
CANNOT_CALL = _code(
    "W1171",
    "a function that no other file can call",
    "With --kernels-as-they-are, generated registration calls the functions that are there. A function that is static "
    "or stands in an unnamed namespace is known in its own file only; a template is known where it is instantiated; one on "
    "the stable ABI takes tensors of another class. "
    "The row is a comment until the function can be called: drop `static`, move it out of the unnamed namespace, or "
    "instantiate it (`template at::Tensor f<float>(const at::Tensor&);`).",
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
    "The sources declare several functions of this name, so `&f` says not which is meant. The row is a comment until "
    "the kernel has a name of its own.",
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
    "With --kernels-as-they-are, a row names a function by its namespaces, which are where it is declared. Give the "
    "header or the source that does.",
    _source("TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL),
    _source(_FUNCTION, "TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL),
)
UNKNOWN_TYPE = _code(
    "W1174",
    "a kernel whose type cannot be written elsewhere",
    "No given header declares the function, so one is written; but its type has a name that is known in its own file "
    "only. Declare the function in a header, and give that, too. The row is a comment until then.",
    _source(
        "using Numbers = std::map<int64_t, double>;",
        "at::Tensor scale_cpu(const at::Tensor& x, Numbers by);",
        "TORCH_LIBRARY(demo, m) {",
        f"  {_SCALE}",
        "}",
        _IMPL,
    ),
    _source(_FUNCTION, "TORCH_LIBRARY(demo, m) {", f"  {_SCALE}", "}", _IMPL),
)
NOT_READ = Code(
    "W1175",
    "a file that is not read to its end",
    "A file that Python cannot parse is passed over. Of a source in C++, some tens of thousands of registrations and "
    "two million characters are read.",
    "def scale(x:\n",
    "def scale(x): ...\n",
    file=PYTHON,
)
LEFT_OUT = _code(
    "W1176",
    "something that an entry does not say",
    "The registration says more than a schema, a kernel and tags: which Python module has fake kernels "
    "(set_python_module), another alias analysis than the schema's, a custom class. The entry stands without it.",
    _in_library('m.set_python_module("demo.fakes");', _SCALE),
    _in_library(_SCALE),
)
UNKNOWN_KEY = _code(
    "W1177",
    "a dispatch key that only the build knows",
    "The dispatch key is a macro or a value that no given file defines. Say what it is: -D MY_KEY=PrivateUse1. Its "
    "rows are left out.",
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
    "What a loaded library says of an operator is what PyTorch prints. This schema, read again, is not the same: "
    "compare the entry with the source.",
)
INSTANCE = _code(
    "W1179",
    "an instance of a template as a kernel",
    "A row names a function, not `f<float>`. The entry has a row with the name alone: write a function of that name "
    "that calls the instance. With --kernels-as-they-are the instance itself is called, if the sources instantiate it.",
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
    "A thousand warnings are enough to begin with; more are often of one cause.",
)

CODES: tuple[Code, ...] = tuple(value for value in list(vars().values()) if isinstance(value, Code))
