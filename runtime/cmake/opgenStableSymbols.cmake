# opgenStableSymbols.cmake: a script that fails if a library uses C++ symbols of PyTorch (E1308).
#
#   cmake -DNM=nm -DLIBRARY=libmylib.so -P opgenStableSymbols.cmake
#
# PyTorch's C++ functions and classes change from release to release, so a library that uses them works with a
# single one. The library is removed.

execute_process(COMMAND "${NM}" -D --undefined-only "${LIBRARY}"
  OUTPUT_VARIABLE symbols RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
  # Not ELF.
  message("The symbols of ${LIBRARY} are unknown: ${NM} cannot read it")
  return()
endif()
# Names in the namespaces at, c10, torch and caffe2, also those of vtables and in template arguments.
string(REGEX MATCHALL "_Z[A-Za-z0-9_.$]*N[rVKRO]*(2at|3c10|5torch|6caffe2)[0-9][A-Za-z0-9_.$]*" found "${symbols}")
if(NOT found)
  return()
endif()
list(LENGTH found count)
list(SUBLIST found 0 5 shown)
get_filename_component(folder "${NM}" DIRECTORY)
find_program(filter c++filt HINTS "${folder}")
if(filter)
  execute_process(COMMAND "${filter}" ${shown} OUTPUT_VARIABLE shown OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REPLACE ";" "" shown "${shown}")
  string(REPLACE "\n" ";" shown "${shown}")
endif()
list(JOIN shown "\n  " shown)
file(REMOVE "${LIBRARY}")
message(FATAL_ERROR "error[E1308]: ${LIBRARY} uses C++ symbols of PyTorch, ${count} in all:\n  ${shown}\n"
  "Include opgen's headers instead of those of ATen, c10 and torch; opgen explain E1308")
