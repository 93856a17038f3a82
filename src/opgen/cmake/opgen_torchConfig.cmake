# opgen_torchConfig.cmake: found by find_package(opgen_torch) in an installed Python package: see opgenConfig.cmake.
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgen_torchConfig.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgen_torchConfig.cmake")
else()
  include("${CMAKE_CURRENT_LIST_DIR}/../../../runtime/cmake/opgen_torchConfig.cmake")
endif()
