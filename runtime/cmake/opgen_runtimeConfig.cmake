# opgen_runtimeConfig.cmake: find_package(opgen_runtime) provides an installed runtime as opgen::core,
# opgen::kernels and opgen::runtime.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/opgen_runtimeTargets.cmake")
foreach(component IN LISTS opgen_runtime_FIND_COMPONENTS)
  if(NOT TARGET opgen::${component} AND opgen_runtime_FIND_REQUIRED_${component})
    set(opgen_runtime_FOUND FALSE)
    set(opgen_runtime_NOT_FOUND_MESSAGE "it has no component '${component}', only core, kernels and runtime")
  endif()
endforeach()
