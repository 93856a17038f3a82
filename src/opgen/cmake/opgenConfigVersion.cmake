# opgenConfigVersion.cmake: as opgenConfig.cmake, the one beside the runtime's sources.
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgenConfigVersion.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgenConfigVersion.cmake")
else()
  include("${CMAKE_CURRENT_LIST_DIR}/../../../runtime/cmake/opgenConfigVersion.cmake")
endif()
