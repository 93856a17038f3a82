#!/bin/sh
# check.sh: the committed tree is what opgen makes of the YAML. After a change: opgen generate ... -o generated
set -eu
cd "$(dirname "$0")"
opgen check native_functions.yaml -o generated
