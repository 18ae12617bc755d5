# Precompiled headers: stable headers that nearly every file includes (the standard library, the test framework) are
# parsed once per target instead of once per file, which shortens a clean build considerably. Of d5's headers, only
# those that every file of a target includes anyway are precompiled, so that a change of another header recompiles
# only its includers. Preset dev has none, so that missing includes are found.
option(D5_PRECOMPILE "Precompile the standard headers" ${PROJECT_IS_TOP_LEVEL})

# ccache settings for precompiled headers. The key is the content of the files (depend mode), not the preprocessor's
# output: for `#pragma once`, GCC identifies headers by all bytes, so a cached precompiled header whose sources have
# new comments fails ("redefinition of ..."). The namespace separates entries with the other kind of key. The inode
# cache avoids hashing the hundred megabytes of a precompiled header for each file.
if(D5_PRECOMPILE AND CCACHE_PROGRAM)
  foreach(language C CXX)
    if(CMAKE_${language}_COMPILER_LAUNCHER STREQUAL CCACHE_PROGRAM)
      set(CMAKE_${language}_COMPILER_LAUNCHER
        env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 CCACHE_INODECACHE=1
        CCACHE_NAMESPACE=precompiled ${CCACHE_PROGRAM})
    endif()
  endforeach()
endif()

# GCC 12 does not treat precompiled headers as system headers, and has false warnings about overlaps and bounds in
# std::string.
add_library(d5_precompiled INTERFACE)
target_compile_options(d5_precompiled INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>)

# d5_precompile(<target> [<header>...])   precompiles the standard library and <header>..., in this order
function(d5_precompile target)
  if(D5_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/standard_headers.hpp ${ARGN})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:d5_precompiled>)
  endif()
endfunction()

# d5_precompiled_by(<target> <other>)   reuses the precompiled headers of <other>, which must have equal flags
function(d5_precompiled_by target other)
  if(D5_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${other})
    target_link_libraries(${target} PRIVATE d5_precompiled)
  endif()
endfunction()
