#!/bin/sh
# run.sh [BUILD]: generate, build and run the example, with opgen on the PATH and a python3 that has torch.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-build/privateuse1}
opgen build --target torch --backend-yaml "$here/backend.yaml" --name pocket -o "$build" --kernels "$here/src" -j 1
POCKET_LIBRARY="$build/cmake-build/libpocket.so" python3 "$here/main.py"
