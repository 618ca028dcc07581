# scute_check_header_version(header): stops the configuration when the SCUTE_VERSION_* macros of
# the public header differ from project(VERSION), so that a release cannot change only one.
function(scute_check_header_version header)
  if(NOT EXISTS "${header}")
    message(FATAL_ERROR "${header} is missing: this is not a complete Scute source tree.")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${header}")
  file(STRINGS "${header}" lines REGEX "^#define SCUTE_VERSION_(MAJOR|MINOR|PATCH) ")
  set(parts)
  foreach(part MAJOR MINOR PATCH)
    if(NOT "${lines}" MATCHES "SCUTE_VERSION_${part} +([0-9]+)")
      message(FATAL_ERROR "${header} does not define SCUTE_VERSION_${part} as a number.")
    endif()
    list(APPEND parts "${CMAKE_MATCH_1}")
  endforeach()
  list(JOIN parts "." version)
  if(NOT version VERSION_EQUAL PROJECT_VERSION)
    message(FATAL_ERROR
      "The version is ${PROJECT_VERSION} in CMakeLists.txt but ${version} in ${header}.\n"
      "Change both to the same.")
  endif()
endfunction()
