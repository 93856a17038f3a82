"""The records of E09xx: files that cannot be read or written, and names given on the command line."""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example

_GOOD = "- func: foo(Tensor self) -> Tensor\n"

E0901 = Code(
    "E0901",
    "a file that opgen did not write",
    "opgen overwrites only files that it wrote before (the folder's manifest lists them) and files that already "
    "have the right contents. Another file is at this path, so opgen wrote nothing. Move it away, or generate "
    "into another folder.",
    None,
)
E0902 = Code(
    "E0902",
    "the manifest cannot be used",
    "opgen_manifest.json lists the generated files of a folder. This one is unreadable, has another format, or "
    "names paths outside of its folder, so opgen cannot tell its own files from yours. Move it away (opgen then "
    "adopts generated files that have the right contents), or use another folder.",
    None,
)
E0903 = Code(
    "E0903",
    "another run is writing to the folder",
    "If two runs wrote to one folder at once, they would mix their files, so the second run stops before it "
    "changes anything. A second 'opgen build' stops, too, while another one compiles in the folder. The lock is "
    "released when the run that holds it ends, even if it is killed.",
    None,
)
E0904 = Code(
    "E0904",
    "a file cannot be written",
    "The operating system refused to write this file, for the reason shown. The manifest lists the files that "
    "may already have been written, so the next run completes them.",
    None,
)
E0905 = Code(
    "E0905",
    "a file cannot be read",
    "A file given on the command line does not exist or cannot be read, for the reason shown.",
    None,
)
E0906 = Code(
    "E0906",
    "the library has no name",
    "A library takes the namespace of its operators as its name. These operators are in several namespaces, so "
    "give a name: --name NAME.",
    Example(
        "- func: foo(Tensor self) -> Tensor\n\n- func: custom::bar(Tensor self) -> Tensor\n", _GOOD
    ),
)
E0907 = Code(
    "E0907",
    "the extended library does not own class Tensor",
    "--extends takes the manifest of the library that owns class Tensor; a process has exactly one. This library "
    "itself extends another one: give that one's manifest.",
    None,
)
E0908 = Code(
    "E0908",
    "the command line names something that does not exist",
    "The command line names an operator or a dispatch key that does not exist. opgen suggests the most similar "
    "name, if there is one.",
    None,
)

E0909 = Code(
    "E0909",
    "a backend's operator is not in the extended library",
    "With --extends, opgen generates a backend's files for the operators of the extended library, which its "
    "manifest lists. Generate that library with this operator first, or without --select.",
    None,
)

E0910 = Code(
    "E0910",
    "an option that does not apply to the target",
    "Some options apply to some targets only. --extends is for target runtime: with the others, class Tensor is "
    "PyTorch's own. --torch is for target torch-stable, whose libraries serve many releases of PyTorch.",
    None,
)

E0914 = Code(
    "E0914",
    "an invalid library name",
    "A library's name becomes the name of a folder, of a CMake target and of C++ entities. It consists of "
    "letters, digits and '_', does not begin with a digit, has at most 200 characters, is not a keyword or macro "
    "of C++, and is not reserved by opgen ('opgen', 'std', 'opgen_...').",
    None,
)

W0915 = Code(
    "W0915",
    "a list names an operator that does not exist",
    "`opgen coverage --against FILE` measures a backend's coverage against a list of operators, named as "
    "`aten::add.Tensor`, `add.Tensor` or `aten.add.Tensor`. The YAML does not define this operator, so the "
    "report leaves it out. It may belong to another library, or to another version.",
    None,
)

E0915 = Code(
    "E0915",
    "an invalid package name",
    "A package of operators has the same name as their namespace, in C++, in YAML and in Python. So the name "
    "cannot be a Python keyword, a module that comes with Python, a name such as '__init__', a function of the C "
    "library, or a namespace of PyTorch. (E0914 reports names that are not valid in C++.)",
    None,
)

W0918 = Code(
    "W0918",
    "a kernel folder without sources",
    "`--kernels FOLDER` compiles every source in the folder and below it: *.cpp files, for target torch also *.cu. "
    "There is none, so all kernels of the library are stubs. Sources with other endings can be named one by one: "
    "`--kernels FILE`. To build with stubs, leave the option out.",
    None,
)

W0919 = Code(
    "W0919",
    "a kernel source that opgen generated",
    "The folder given as `--kernels` contains a tree that opgen generated, or this file is in one. The library is "
    "compiled from its own tree anyway, and would have these definitions twice, so opgen leaves out the sources that "
    "the tree's manifest lists, and the folder cmake-build beside it. Keep generated trees outside of the folder of "
    "your kernels.",
    None,
)

W0920 = Code(
    "W0920",
    "an output folder that holds your own sources",
    "opgen writes folders such as include, src and stubs, and a CMakeLists.txt, into the folder given as -o. This "
    "folder had no generated files before, but it, or a folder that opgen writes to, contains sources that opgen did "
    "not write. opgen never changes or removes these, but they are now among generated files. Give -o a folder of "
    "its own. The warning appears once: later runs find a manifest in the folder.",
    None,
)

W0921 = Code(
    "W0921",
    "a kernel that no entry names",
    "The macros OPGEN_KERNEL, OPGEN_IMPL_FUNC, OPGEN_META_FUNC and OPGEN_UFUNC define a function that the generated "
    "headers declare. They declare the kernels that the entries name in 'dispatch', and a meta function for each "
    "structured operator. No entry names this one, or it is of another kind and needs another macro, so the compiler "
    "will not accept it. Correct the name, here or in the YAML. `opgen stub` prints the definition of every kernel.",
    None,
)

W0922 = Code(
    "W0922",
    "a kernel whose header is not included",
    "The macros OPGEN_KERNEL, OPGEN_IMPL_FUNC, OPGEN_META_FUNC and OPGEN_UFUNC define a function that a generated header "
    "declares: <LIBRARY/ops/NAME_native.h> declares the kernels of the operator NAME, and <LIBRARY/ops/NAME_meta.h> its "
    "meta function. This source includes neither that header nor one that includes it, so the compiler will not know "
    "the function. `opgen stub` prints the includes with each kernel.",
    None,
)
W0923 = Code(
    "W0923",
    "a package that hides a well-known one",
    "Python finds one package of each name: with this one installed, or in the current folder, `import` of the "
    "well-known package of the same name finds this one, also in other people's code. Choose another name.",
    None,
)
E0924 = Code(
    "E0924",
    "settings that are not TOML",
    "opgen reads the settings of a project from the table [tool.opgen] of pyproject.toml, or from opgen.toml, in the "
    "folder of the schema files or above it ('opgen docs project'). This file is not valid TOML.",
    Example("[tool.opgen]\ntarget = torch\n", '[tool.opgen]\ntarget = "torch"\n'),
    file="pyproject.toml",
)
E0925 = Code(
    "E0925",
    "a setting that does not exist",
    "The table [tool.opgen] of pyproject.toml, or opgen.toml, has a key that opgen does not know. "
    "'opgen docs project' lists all settings.",
    Example('[tool.opgen]\ntraget = "torch"\n', '[tool.opgen]\ntarget = "torch"\n'),
    file="pyproject.toml",
)
E0926 = Code(
    "E0926",
    "a setting with a value of the wrong kind",
    "Paths and names are strings, lists of paths are lists of strings or one string, and the others are true or false. "
    "'opgen docs project' lists all settings.",
    Example('[tool.opgen]\npython = "yes"\n', "[tool.opgen]\npython = true\n"),
    file="pyproject.toml",
)

CODES = (
    *(W0918, W0919, W0920, W0921, W0922, W0923),
    *(E0901, E0902, E0903, E0904, E0905, E0906, E0907, E0908),
    *(E0909, E0910, E0914, E0915, W0915),
    *(E0924, E0925, E0926),
)
