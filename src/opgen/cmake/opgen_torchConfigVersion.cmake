# opgen_torchConfigVersion.cmake: as opgen_torchConfig.cmake, the one beside the runtime's sources.
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgen_torchConfigVersion.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgen_torchConfigVersion.cmake")
else()
  include("${CMAKE_CURRENT_LIST_DIR}/../../../runtime/cmake/opgen_torchConfigVersion.cmake")
endif()
