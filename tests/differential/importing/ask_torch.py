"""Print, as JSON, what PyTorch knows about every operator of some namespaces, without using opgen.

`python ask_torch.py '{"libraries": [...], "modules": [...], "schemas": {name: text}}'`. For each name: whether the
text is its schema, which dispatch keys have kernels from C++, its alias analysis, its tags, and the Python module of its
fake kernel; and the names of all operators of the namespaces.
"""

import importlib
import json
import re
import sys

import torch


def keys(name):
    """Return the dispatch keys with a kernel registered from C++, and those that fall through."""
    found = []
    for line in torch._C._dispatch_dump(name).splitlines()[4:]:
        if not line.strip() or "(inactive)" in line:
            continue
        key, _, rest = line.partition(": ")
        place = rest.partition(" :: ")[0].rpartition(":")[0]
        if not place.endswith(".py") or "[ fallthrough" in rest:
            found.append(key.removesuffix("[alias]"))
            if "[alias]" not in key:
                assert torch._C._dispatch_has_kernel_for_dispatch_key(name, found[-1])
    return sorted(found)


def operator(name, text):
    base, _, overload = name.partition(".")
    try:
        schema = torch._C._get_schema(base, overload)
    except RuntimeError:
        return None
    namespace, _, short = base.partition("::")
    packet = getattr(getattr(torch.ops, namespace), short)
    return {
        "printed": str(schema),
        "is_same": torch._C.parse_schema(text) == schema,
        "keys": keys(name),
        "analysis": re.search(r"alias analysis kind: (\w+)", torch._C._dispatch_dump(name))[
            1
        ].lower(),
        "fake_module": (torch._C._dispatch_pystub(base, overload) or (None,))[0],
        "tags": sorted(tag.name for tag in getattr(packet, overload or "default").tags),
    }


def main():
    asked = json.loads(sys.argv[1])
    for library in asked["libraries"]:
        torch.ops.load_library(library)
    for module in asked["modules"]:
        importlib.import_module(module)
    namespaces = {name.partition("::")[0] for name in asked["schemas"]}
    there = []
    for name in torch._C._dispatch_get_all_op_names():
        if name.partition("::")[0] in namespaces:
            there.append(name)
    answers = {name: operator(name, text) for name, text in asked["schemas"].items()}
    print(json.dumps({"operators": answers, "there": sorted(there)}))


if __name__ == "__main__":
    main()
