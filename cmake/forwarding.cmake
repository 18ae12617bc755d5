# Forwarding headers at the former paths: d5/core/condition.hpp includes d5/core/results/condition.hpp. For one
# release, for external programs; d5 itself includes the new paths (house/arrow).
set(d5_forwarding ${PROJECT_BINARY_DIR}/forwarding)
file(REMOVE_RECURSE ${d5_forwarding})  # none of a header that is gone
d5_glob(headers include/d5/*/*/*.hpp)
foreach(header IN LISTS headers)
  file(RELATIVE_PATH header ${PROJECT_SOURCE_DIR}/include ${header})
  string(REGEX REPLACE "/[^/]+(/[^/]+)$" "\\1" before ${header})
  file(CONFIGURE OUTPUT ${d5_forwarding}/${before} CONTENT
    "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n\n#include \"@header@\"\n" @ONLY)
endforeach()
target_include_directories(d5_core INTERFACE $<BUILD_INTERFACE:${d5_forwarding}>)
