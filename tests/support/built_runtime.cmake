# Lets find_package(opgen) of a user's project find the runtime, and the common part of Python modules, that the tests have
# built, instead of building them. Passed as CMAKE_PROJECT_INCLUDE, so that the projects need no change.
add_library(opgen::runtime SHARED IMPORTED)
set_target_properties(opgen::runtime PROPERTIES
  IMPORTED_LOCATION "${RUNTIME_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${RUNTIME_INCLUDE}"
  INTERFACE_COMPILE_FEATURES cxx_std_20)
if(PYTHON_PART)
  add_library(opgen::python SHARED IMPORTED)
  set_target_properties(opgen::python PROPERTIES
    IMPORTED_LOCATION "${PYTHON_PART}"
    INTERFACE_INCLUDE_DIRECTORIES "${PYTHON_PART_INCLUDE}"
    INTERFACE_LINK_LIBRARIES opgen::runtime)
endif()
