#!/bin/sh
# run.sh [BUILD]: build the operators for both targets, train four times, and compare the losses. Needs opgen, cmake, ninja
# and torch in this Python's environment.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-build/train}
python=$(command -v python3)

# opgen's runtime: the library, its Python package, and the C++ program
cmake -S "$here" -B "$build/runtime" -G Ninja -DCMAKE_BUILD_TYPE=Release -Dopgen_DIR="$(opgen --cmake-dir)" \
  -DOPGEN_EXECUTABLE="$(command -v opgen)" -DPython_EXECUTABLE="$python"
cmake --build "$build/runtime"
# PyTorch: the package of the same operators
opgen build "$here/native_functions.yaml" --target torch --python --kernels "$here/kernels" -o "$build/torch"

losses=$build/losses
mkdir -p "$losses"
"$build/runtime/train" >"$losses/cpp.txt"
PYTHONPATH="$build/runtime/python" "$python" "$here/train.py" runtime "$here/graph.svg" >"$losses/runtime.txt"
PYTHONPATH="$build/torch/cmake-build/python" "$python" "$here/train.py" torch >"$losses/torch.txt"
"$python" "$here/reference.py" >"$losses/nn.txt"
"$python" "$here/report.py" "$losses"
