# Takes the place of the runtime in tests that only count compiled sources: its headers, and nothing
# to build or link. Passed as CMAKE_PROJECT_INCLUDE.
foreach(part core kernels runtime)
  add_library(opgen::${part} INTERFACE IMPORTED)
  target_include_directories(opgen::${part} INTERFACE "${RUNTIME_INCLUDE}")
endforeach()
add_library(opgen::python INTERFACE IMPORTED)
target_include_directories(opgen::python INTERFACE "${RUNTIME_INCLUDE}/../python/include")
