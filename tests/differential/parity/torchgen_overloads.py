#!/usr/bin/env python
"""Print, as JSON, the overloads of every Python function in the order in which torchgen tries them.

    python torchgen_overloads.py NATIVE_YAML TAGS_YAML

A row is [is a method, module, name, [[signature, operator, out operator or null], ...]].
"""

import json
import sys
from collections import defaultdict

from torchgen.api import python
from torchgen.gen import parse_native_yaml
from torchgen.packaged.autograd import gen_python_functions as gen

native_yaml, tags_yaml = sys.argv[1:]
functions = parse_native_yaml(native_yaml, tags_yaml).native_functions
bound = [f for f in functions if gen.should_generate_py_binding(f)]
groups = defaultdict(list)
for f in bound:
    for method in (False, True):
        called = f.python_module is None and ("method" if method else "function") in {
            v.name for v in f.variants
        }
        if called or (f.python_module is not None and not method):
            signature = python.signature(f, method=method)
            pair = python.PythonSignatureNativeFunctionPair(signature=signature, function=f)
            groups[method, f.python_module, str(f.func.name.name)].append(pair)

rows = []
for (method, module, name), pairs in groups.items():
    overloads = [
        [
            group.signature.signature_str(),
            str(group.base.func.name),
            None if group.outplace is None else str(group.outplace.func.name),
        ]
        for group in gen.group_overloads(pairs)
    ]
    rows.append([method, module, name, overloads])
json.dump(rows, sys.stdout)
