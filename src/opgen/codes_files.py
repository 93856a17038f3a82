"""The records of E09xx: files that cannot be read or written, and names given on the command line."""

from __future__ import annotations

from opgen.diagnostics.codes import Code

_GOOD = "- func: foo(Tensor self) -> Tensor\n"

E0901 = Code(
    "E0901",
    "a file in the way was not written by opgen",
    "opgen overwrites only files that it wrote before, which the manifest of the folder lists, and "
    "files whose bytes are already right. Something else stands at this path, so nothing was written. "
    "Move it away, or generate into another folder.",
    _GOOD,
    _GOOD,
)
E0902 = Code(
    "E0902",
    "the manifest cannot be used",
    "opgen_manifest.json says which files of a folder are generated. This one is unreadable, of "
    "another format, or names paths outside of its folder, so opgen cannot tell its own files from "
    "yours. Move it away (generated files with the right bytes are adopted), or use another folder.",
    _GOOD,
    _GOOD,
)
E0903 = Code(
    "E0903",
    "another run is writing to the folder",
    "Two runs that write to one folder at the same time would mix their files, so the second one stops "
    "before it touches anything. So does a second 'opgen build' while one compiles there. The lock ends with the run "
    "that has it, also if that is killed.",
    _GOOD,
    _GOOD,
)
E0904 = Code(
    "E0904",
    "a file cannot be written",
    "The system refused to write this file; its reason is given. The manifest lists what may already "
    "have been written, so the next run puts everything right.",
    _GOOD,
    _GOOD,
)
E0905 = Code(
    "E0905",
    "a file cannot be read",
    "A file given on the command line does not exist or cannot be read; the system's reason is given.",
    _GOOD,
    _GOOD,
)
E0906 = Code(
    "E0906",
    "the library has no name",
    "A library is named after the namespace of its operators. These are of several namespaces, so say "
    "which name is meant: --name NAME.",
    "- func: foo(Tensor self) -> Tensor\n\n- func: custom::bar(Tensor self) -> Tensor\n",
    _GOOD,
)
E0907 = Code(
    "E0907",
    "the extended library has no class Tensor",
    "--extends names the manifest of the one library in the process that owns class Tensor. This "
    "library extends another one itself: give the manifest of that one.",
    _GOOD,
    _GOOD,
)
E0908 = Code(
    "E0908",
    "the command line names something that does not exist",
    "An operator or a dispatch key named on the command line is not known. The nearest known name is "
    "suggested, if there is one.",
    _GOOD,
    _GOOD,
)

E0909 = Code(
    "E0909",
    "a backend's operator is not in the extended library",
    "With --extends, the files of an external backend are made for the operators of that library, which "
    "its manifest lists. Generate the library with this operator first, or without --select.",
    _GOOD,
    _GOOD,
)

E0910 = Code(
    "E0910",
    "an option that this target has nothing for",
    "Some options ask for files that only some targets have: --extends is for target runtime. The class Tensor "
    "of target torch is PyTorch's own.",
    _GOOD,
    _GOOD,
)

E0914 = Code(
    "E0914",
    "a bad name of a library",
    "A library's name is that of a folder, a CMake target, and of things in C++: so it consists of letters, "
    "digits and '_', does not begin with a digit, has at most 200 characters, is no keyword or macro of C++, and is "
    "none of opgen's own ('opgen', 'std', 'opgen_...').",
    _GOOD,
    _GOOD,
)

W0915 = Code(
    "W0915",
    "a list names an operator that does not exist",
    "The list that a backend's coverage is measured against (opgen coverage --against FILE) names operators as "
    "`aten::add.Tensor`, `add.Tensor` or `aten.add.Tensor`. One that the YAML does not define is left out of the "
    "report: it may be of another library, or of another version.",
    _GOOD,
    _GOOD,
)

E0915 = Code(
    "E0915",
    "a bad name of a new package",
    "A package of operators is named like their namespace, in C++, in YAML and in Python: so it cannot be a keyword of Python, a "
    "module that comes with Python, a name such as '__init__', or a namespace of PyTorch's own. (What C++ does not take is E0914.)",
    _GOOD,
    _GOOD,
)

CODES = (
    *(E0901, E0902, E0903, E0904, E0905, E0906, E0907, E0908),
    *(E0909, E0910, E0914, E0915, W0915),
)
