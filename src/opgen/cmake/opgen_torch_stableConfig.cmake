# opgen_torch_stableConfig.cmake: found by find_package(opgen_torch_stable) in an installed Python package: see opgenConfig.cmake.
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgen_torch_stableConfig.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgen_torch_stableConfig.cmake")
else()
  include("${CMAKE_CURRENT_LIST_DIR}/../../../runtime/cmake/opgen_torch_stableConfig.cmake")
endif()
