# Lets find_package(opgen) of a user's project find the runtime that the tests have built, instead
# of building it. Passed as CMAKE_PROJECT_INCLUDE, so that the projects need no change.
add_library(opgen::runtime SHARED IMPORTED)
set_target_properties(opgen::runtime PROPERTIES
  IMPORTED_LOCATION "${RUNTIME_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${RUNTIME_INCLUDE}"
  INTERFACE_COMPILE_FEATURES cxx_std_20)
