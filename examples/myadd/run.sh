#!/bin/sh
# run.sh [BUILD]: generate, build and run the example. Needs opgen, cmake and ninja on the PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-build/myadd}
cmake -S "$here" -B "$build" -G Ninja -Dopgen_DIR="$(opgen --cmake-dir)" -DOPGEN_EXECUTABLE="$(command -v opgen)" \
  -DPython_EXECUTABLE="$(command -v python3)"
cmake --build "$build"
"$build/main"
if [ -d "$build/python" ]; then
  PYTHONPATH="$build/python" python3 "$here/main.py"
else
  echo "this Python has no headers (python3-dev): no package for it was built"
fi
