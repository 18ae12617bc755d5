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
# Headers of clusters by their former names.
foreach(room IN ITEMS networks/network_description calibration/network_calibration)
  string(REPLACE "/network_" "/cluster_" header d5/prediction/${room}.hpp)
  get_filename_component(before ${room} NAME)
  foreach(path IN ITEMS ${room} ${before})
    file(CONFIGURE OUTPUT ${d5_forwarding}/d5/prediction/${path}.hpp CONTENT
      "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n\n#include \"@header@\"\n" @ONLY)
  endforeach()
endforeach()
target_include_directories(d5_core INTERFACE $<BUILD_INTERFACE:${d5_forwarding}>)
