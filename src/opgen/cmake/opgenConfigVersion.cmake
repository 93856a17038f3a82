# opgenConfigVersion.cmake: includes the file beside the runtime's sources, like opgenConfig.cmake.
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgenConfigVersion.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgenConfigVersion.cmake")
else()
  include("${CMAKE_CURRENT_LIST_DIR}/../../../runtime/cmake/opgenConfigVersion.cmake")
endif()
