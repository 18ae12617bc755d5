# d5/core/entries/interface.hpp: a checksum of the public headers, so that plug-ins built against other headers are
# refused. Written at build time, and only if a header has changed.
if(CMAKE_SCRIPT_MODE_FILE)  # cmake -DINCLUDE=<folder> -DOUTPUT=<header> -P interface.cmake
  file(GLOB_RECURSE headers ${INCLUDE}/d5/*)
  list(SORT headers)
  foreach(header IN LISTS headers)
    file(SHA256 ${header} sum)
    string(APPEND sums ${sum})
  endforeach()
  string(SHA256 sum "${sums}")
  string(SUBSTRING ${sum} 0 12 sum)
  file(WRITE ${OUTPUT} "// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Begins the SHA-256 of d5's public headers.
#define D5_INTERFACE \"${sum}\"
")
  return()
endif()

set(interface ${PROJECT_BINARY_DIR}/generated/d5/core/entries/interface.hpp)
file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/d5/*)
add_custom_command(OUTPUT ${interface}
  COMMAND ${CMAKE_COMMAND} -DINCLUDE=${PROJECT_SOURCE_DIR}/include -DOUTPUT=${interface}
          -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${headers} ${CMAKE_CURRENT_LIST_FILE} COMMENT "Writing d5/core/entries/interface.hpp" VERBATIM)
add_custom_target(d5_interface DEPENDS ${interface})
add_dependencies(d5_core d5_interface)  # also a dependency of targets that link d5_core
target_include_directories(d5_core PUBLIC $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>)
install(FILES ${interface} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/d5/core/entries)
