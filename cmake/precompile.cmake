# Headers that hardly change and that nearly every file reads (the standard library, a test's
# framework) are parsed once a target instead of once a file; a build from nothing is much shorter.
# Of d5's own headers only those are among them that every file of a target reads anyway: touching
# another compiles those again that read it, no more.
# Preset dev does without, so that a file that forgets an #include is found.
option(D5_PRECOMPILE "Parse the standard headers once a target" ${PROJECT_IS_TOP_LEVEL})

# ccache has to be told of precompiled headers, and of clocks in them. It keeps them by what their
# files hold (depend mode), not by what the preprocessor leaves of them: GCC knows a header it has
# read, for `#pragma once`, by every byte, so a kept one whose comments have changed since is of no
# use to it ("redefinition of ..."). The namespace leaves behind what was kept the other way. Of
# files that have not been touched it remembers what they hold (inode cache): it would read the
# hundred megabytes of a precompiled header for each file, which takes as long as some files do.
if(D5_PRECOMPILE AND CCACHE_PROGRAM)
  foreach(language C CXX)
    if(CMAKE_${language}_COMPILER_LAUNCHER STREQUAL CCACHE_PROGRAM)
      set(CMAKE_${language}_COMPILER_LAUNCHER
        env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 CCACHE_INODECACHE=1
        CCACHE_NAMESPACE=precompiled ${CCACHE_PROGRAM})
    endif()
  endforeach()
endif()

# GCC 12 forgets that a precompiled header is the system's, and warns of overlaps and bounds in
# std::string that are not there.
add_library(d5_precompiled INTERFACE)
target_compile_options(d5_precompiled INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>)

# d5_precompile(<target> [<header>...])   the standard library and <header>..., in this order
function(d5_precompile target)
  if(D5_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/standard_headers.hpp ${ARGN})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:d5_precompiled>)
  endif()
endfunction()

# d5_precompiled_by(<target> <other>)   what was parsed for <other>, which compiles with equal flags
function(d5_precompiled_by target other)
  if(D5_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${other})
    target_link_libraries(${target} PRIVATE d5_precompiled)
  endif()
endfunction()
