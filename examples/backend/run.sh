#!/bin/sh
# run.sh [BUILD]: generate, build and run the example. Needs opgen, cmake and ninja on the PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-build/backend}
cmake -S "$here" -B "$build" -G Ninja -Dopgen_DIR="$(opgen --cmake-dir)" -DOPGEN_EXECUTABLE="$(command -v opgen)"
cmake --build "$build"
"$build/main" "$build/libtoy.so"
