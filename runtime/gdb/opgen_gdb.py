"""opgen_gdb.py: gdb for operators made by opgen: printers of tensors and dispatch keys, and commands that lead to a
kernel.

Load it with `gdb -x "$(opgen --gdb-script)"`, or with `source PATH` in ~/.gdbinit. It needs a program or library with
debug information (`-g`); it reads memory and calls no function of the program.

* `print`, `info locals` and `backtrace` show `Tensor Float [2, 3] on CPU`, `CPU` for a DispatchKey and `{CPU,
  AutogradCPU}` for a DispatchKeySet, for opgen's runtime (`opgen::`) and for PyTorch (`at::`, `c10::`). `print` also
  shows the elements of a tensor on the CPU; for large tensors, only those at the ends of each dimension.
* `print *$tensor_data(self)@6` shows the first six elements.
* `step` does not enter the small functions of tensors, references and lists (`info skip` lists the rules).
* `step-kernel`, at a line that calls an operator, steps through the generated code and the dispatcher, and stops in
  the kernel or meta function.
* `break shift_cpu` stops in `OPGEN_KERNEL(shift_cpu)`; `break structured_scale_out_cpu::impl` in
  `OPGEN_IMPL_FUNC(scale_out_cpu)`; `break structured_scale::meta` in `OPGEN_META_FUNC(scale)`.
"""

import re
import struct

import gdb
import gdb.printing

_PER_BACKEND = (
    ("Dense", ""),
    ("Quantized", "Quantized"),
    ("Sparse", "Sparse"),
    ("SparseCsr", "SparseCsr"),
    ("NestedTensor", "NestedTensor"),
    ("AutogradFunctionality", "Autograd"),
)
# ScalarType's names and the C++ types of their elements, by number.
_ELEMENTS = {
    0: ("Byte", "unsigned char"),
    1: ("Char", "signed char"),
    2: ("Short", "short"),
    3: ("Int", "int"),
    4: ("Long", "long"),
    5: ("Half", "unsigned short"),
    6: ("Float", "float"),
    7: ("Double", "double"),
    8: ("ComplexHalf", None),
    9: ("ComplexFloat", None),
    10: ("ComplexDouble", None),
    11: ("Bool", "bool"),
    15: ("BFloat16", "unsigned short"),
}
# The format with which struct reads an element. A bfloat16 is the upper half of a float.
_FORMATS = {
    0: "B",
    1: "b",
    2: "h",
    3: "i",
    4: "q",
    5: "e",
    6: "f",
    7: "d",
    8: "ee",
    9: "ff",
    10: "dd",
    11: "B",
    15: "H",
}
# A dimension with more elements shows this many at each end, in tensors that have more than _MAX_SHOWN.
_EDGE = 3
_MAX_SHOWN = 64
# No elements are shown if more than this many would have to be read.
_MAX_READ = 1000
# A corrupt tensor may claim any number of dimensions.
_MAX_DIMS = 64
_MAX_STEPS = 1000


def _enumerators(name):
    """Return the enumerators of an enum as {value: name}. If a value has several names, take the first."""
    names = {}
    for field in gdb.lookup_type(name).strip_typedefs().fields():
        names.setdefault(field.enumval, field.name.rsplit("::", 1)[-1])
    return names


def _namespace(value):
    """Return `opgen` or `c10`, the namespace that declares the dispatch keys of a value."""
    return "opgen" if value.type.strip_typedefs().unqualified().name.startswith("opgen") else "c10"


def _referenced(value):
    """Return the value to which `value` refers, if it is a reference, else `value`."""
    is_reference = value.type.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)
    return value.referenced_value() if is_reference else value


def _key_names(namespace, bits):
    """Return the names of the dispatch keys in a DispatchKeySet, lowest priority first."""
    functionalities = _enumerators(namespace + "::DispatchKey")
    backends = _enumerators(namespace + "::BackendComponent")
    if namespace == "c10":
        # InvalidBit is 0, and bit 0 is CPUBit.
        backends = {
            number - 1: name[: -len("Bit")] for number, name in backends.items() if number > 0
        }
    count = 1 + max(backends)
    present = [name for number, name in sorted(backends.items()) if bits >> number & 1]
    prefixes = dict(_PER_BACKEND)
    names = []
    for number in range(1, 64 - count + 1):
        if not bits >> (count - 1 + number) & 1:
            continue
        name = functionalities.get(number, f"functionality {number}")
        if name in prefixes and present:
            names += [prefixes[name] + backend for backend in present]
        else:
            names.append(name)
    return names or [backend + " (backend only)" for backend in present]


def _key_bits(keys):
    """Return the bits of a DispatchKeySet."""
    return int(keys["bits_" if _namespace(keys) == "opgen" else "repr_"])


class DispatchKeyPrinter:
    """`CPU`."""

    def __init__(self, value):
        self.value = _referenced(value)

    def to_string(self):
        names = _enumerators(_namespace(self.value) + "::DispatchKey")
        return names.get(int(self.value), f"DispatchKey {int(self.value)}")


class DispatchKeySetPrinter:
    """`{CPU, AutogradCPU}`."""

    def __init__(self, value):
        self.value = _referenced(value)

    def to_string(self):
        return "{" + ", ".join(_key_names(_namespace(self.value), _key_bits(self.value))) + "}"


class _Impl:
    """Read the fields of a tensor from opgen's TensorImpl."""

    def __init__(self, impl):
        dims = min(int(impl["ndim_"]), _MAX_DIMS)
        self.impl = impl
        self.dtype = int(impl["dtype_"])
        self.sizes = [int(impl["sizes_"][i]) for i in range(dims)]
        self.strides = [int(impl["strides_"][i]) for i in range(dims)]
        self.offset = int(impl["storage_offset_"])
        self.keys = impl["keys_"]
        self.storage = impl["storage_"]

    def data(self):
        """Return a typed pointer to the first element; null if the tensor has no memory."""
        if int(self.storage) == 0:
            return self.storage.cast(gdb.lookup_type("void").pointer())
        return _elements(
            self.storage["data_"], self.dtype, self.offset, int(self.impl["itemsize_"])
        )


class _AtenImpl:
    """Read the fields of a tensor from PyTorch's TensorImpl."""

    def __init__(self, impl):
        layout = impl["sizes_and_strides_"]
        dims = int(layout["size_"])
        room = 5  # c10 keeps up to five dimensions inside the object
        shown = min(dims, _MAX_DIMS)
        if dims <= room:
            first, second = layout["inlineStorage_"], room
        else:
            first, second = layout["outOfLineStorage_"], dims
        self.impl = impl
        self.dtype = int(impl["data_type_"]["index_"])
        self.sizes = [int(first[i]) for i in range(shown)]
        self.strides = [int(first[second + i]) for i in range(shown)]
        self.offset = int(impl["storage_offset_"])
        self.keys = impl["key_set_"]
        self.storage = impl["storage_"]["storage_impl_"]["target_"]

    def data(self):
        pointer = self.storage["data_ptr_"]["ptr_"]["data_"]
        sizes = {0: 1, 1: 1, 2: 2, 3: 4, 4: 8, 5: 2, 6: 4, 7: 8, 8: 4, 9: 8, 10: 16, 11: 1, 15: 2}
        return _elements(pointer, self.dtype, self.offset, sizes.get(self.dtype, 1))


def _elements(bytes_, dtype, offset, itemsize):
    address = bytes_.cast(gdb.lookup_type("char").pointer()) + offset * itemsize
    element = _ELEMENTS.get(dtype, ("", None))[1]
    return address.cast(gdb.lookup_type(element or "void").pointer())


def _number(dtype, parts):
    """Return the text of an element from the numbers that struct has read."""
    if dtype == 11:
        return "true" if parts[0] else "false"
    if dtype == 15:
        parts = struct.unpack("=f", struct.pack("=I", parts[0] << 16))
    texts = [f"{part:.6g}" if isinstance(part, float) else str(part) for part in parts]
    if len(texts) == 1:
        return texts[0]
    return texts[0] + ("" if texts[1].startswith("-") else "+") + texts[1] + "i"


def _shown_elements(shown):
    """Return the elements of a tensor on the CPU as nested lists; None if they cannot be read."""
    total, read = 1, 1
    for size in shown.sizes:
        total *= size
        read *= min(size, 2 * _EDGE)
    if shown.dtype not in _FORMATS or min(total, read) > _MAX_READ:
        return None
    if total == 0:
        return "[]"
    data = int(shown.data())
    if data == 0:
        return None
    form = "=" + _FORMATS[shown.dtype]
    itemsize = struct.calcsize(form)
    memory = gdb.selected_inferior()

    def texts(dim, address):
        if dim == len(shown.sizes):
            element = bytes(memory.read_memory(address, itemsize))
            return _number(shown.dtype, struct.unpack(form, element))
        size = shown.sizes[dim]
        cut = total > _MAX_SHOWN and size > 2 * _EDGE
        indices = [*range(_EDGE), None, *range(size - _EDGE, size)] if cut else range(size)
        step = shown.strides[dim] * itemsize
        parts = ["..." if i is None else texts(dim + 1, address + i * step) for i in indices]
        return "[" + ", ".join(parts) + "]"

    return texts(0, data)


def read_tensor(value):
    """Return the fields of a tensor; None if it is undefined."""
    if _namespace(value) == "opgen":
        impl = value["impl_"].dereference()
        return None if int(impl["dtype_"]) == 31 else _Impl(impl)
    impl = value["impl_"]["target_"].dereference()
    backends = max(_enumerators("c10::BackendComponent"))
    # The undefined tensor has keys, but no key of a backend.
    is_undefined = int(impl["key_set_"]["repr_"]) & ((1 << backends) - 1) == 0
    return None if is_undefined else _AtenImpl(impl)


class TensorPrinter:
    """`Tensor Float [2, 3] on CPU`, with strides, storage_offset, keys, data (a typed pointer) and elements as children."""

    def __init__(self, value):
        self.value = _referenced(value)

    def to_string(self):
        try:
            shown = read_tensor(self.value)
            if shown is None:
                return "undefined Tensor"
            dtype = _ELEMENTS.get(shown.dtype, (f"dtype {shown.dtype}", None))[0]
            keys = DispatchKeySetPrinter(shown.keys).to_string()
            device = keys.strip("{}").split(", ")[0].split(" (")[0]
            return f"Tensor {dtype} {shown.sizes} on {device}"
        except gdb.MemoryError:
            return "Tensor in memory that cannot be read"
        except gdb.error:
            # g++ writes debug information of a class with virtual functions only where it emits the virtual table.
            return "Tensor without debug information (compile with -femit-class-debug-always)"

    def children(self):
        try:
            shown = read_tensor(self.value)
            if shown is None:
                return
            yield "strides", str(shown.strides)
            yield "storage_offset", shown.offset
            yield "keys", shown.keys
            yield "data", shown.data()
            if "CPU" in _key_names(_namespace(shown.keys), _key_bits(shown.keys)):
                elements = _shown_elements(shown)
                if elements is not None:
                    yield "elements", elements
        except gdb.error:
            return


def _printers():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("opgen")
    printers.add_printer("Tensor", "^opgen::Tensor(Base)?$", TensorPrinter)
    printers.add_printer("at::Tensor", "^at::Tensor(Base)?$", TensorPrinter)
    printers.add_printer("DispatchKey", "^(opgen|c10)::DispatchKey$", DispatchKeyPrinter)
    printers.add_printer("DispatchKeySet", "^(opgen|c10)::DispatchKeySet$", DispatchKeySetPrinter)
    return printers


# Small functions that `step` would enter before it reaches the author's next line.
_SKIPPED = (
    "*/opgen/core/*.h",
    "*/opgen/cpu/accessor.h",
    "*/opgen/registration/dict.h",
    "*/opgen/registration/list.h",
    "*/opgen/registration/optional_ref.h",
    "*/opgen/tensor/*.h",
    "*/TensorBody.h",
    "*/c10/core/*.h",
    "*/c10/util/*.h",
    "/usr/include/c++/*",
)
# Generated code and the dispatcher, through which step-kernel steps.
_PLUMBING = re.compile(
    r"/opgen/(dispatch|registration|structured|symbolic|iterator|autograd|transforms|device|core|tensor)/"
    r"|/opgen/\w+\.h$|/(dispatch|registration|structured)/\w+\.cpp$|/ops/\w+\.h$|/TensorBody\.h$"
    r"|/(Register\w*|Operators\w*|TensorMethods\w*|Functions)\.(cpp|h)$"
    r"|/(ATen|c10|torch)/|/c\+\+/\d"
)


def _has_parameter(name):
    try:
        gdb.parameter(name)
    except RuntimeError:
        return False
    return True


class TensorData(gdb.Function):
    """$tensor_data(TENSOR): return a typed pointer to the tensor's first element.

    `print *$tensor_data(self)@6` prints the first six."""

    def __init__(self):
        super().__init__("tensor_data")

    def invoke(self, tensor):
        shown = read_tensor(_referenced(tensor))
        if shown is None:
            raise gdb.GdbError("the tensor is undefined")
        return shown.data()


class StepKernel(gdb.Command):
    """Step into the kernel of the operator that this line calls.

    Steps through generated code and the dispatcher, and stops at the first line outside of them: in a kernel or a meta
    function, or at the next line here if the operator ran without one."""

    def __init__(self):
        super().__init__("step-kernel", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        self.dont_repeat()
        step = "step"
        if _has_parameter("suppress-cli-notifications"):
            step = "with suppress-cli-notifications on -- step"
        start = gdb.selected_frame().find_sal()
        begin = start.symtab.fullname() if start.symtab else "", start.line
        for _ in range(_MAX_STEPS):
            gdb.execute(step, to_string=True)
            if not gdb.selected_thread() or not gdb.selected_thread().is_valid():
                return
            place = gdb.selected_frame().find_sal()
            name = place.symtab.fullname() if place.symtab else ""
            if (name, place.line) == begin or not name or _PLUMBING.search(name):
                continue
            break
        gdb.execute("frame")


def _load():
    gdb.printing.register_pretty_printer(gdb.current_objfile(), _printers(), replace=True)
    known = gdb.execute("info skip", to_string=True)
    for pattern in _SKIPPED:
        if pattern not in known:
            gdb.execute(f"skip -gfi {pattern}", to_string=True)
    StepKernel()
    TensorData()


_load()
