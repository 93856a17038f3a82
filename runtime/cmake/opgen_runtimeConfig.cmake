# opgen_runtimeConfig.cmake: find_package(opgen_runtime) provides an installed runtime as opgen::core,
# opgen::kernels and opgen::runtime.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/opgen_runtimeTargets.cmake")
