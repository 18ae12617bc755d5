# Headers that hardly change and that nearly every file reads (the standard library, a test's
# framework) are parsed once a target instead of once a file; this halves a build from nothing.
# d5's own headers are not among them: touching one compiles those again that read it, no more.
# Preset dev does without, so that a file that forgets an #include is found.
option(D5_PRECOMPILE "Parse the standard headers once a target" ${PROJECT_IS_TOP_LEVEL})

# Like precompiled headers, clocks are something that ccache has to be told of.
if(D5_PRECOMPILE AND CCACHE_PROGRAM)
  foreach(language C CXX)
    if(CMAKE_${language}_COMPILER_LAUNCHER STREQUAL CCACHE_PROGRAM)
      set(CMAKE_${language}_COMPILER_LAUNCHER
        env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
    endif()
  endforeach()
endif()

# d5_precompile(<target> [<header>...])   the standard library and <header>..., in this order
function(d5_precompile target)
  if(D5_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/standard_headers.hpp ${ARGN})
  endif()
endfunction()

# d5_precompiled_by(<target> <other>)   what was parsed for <other>, which compiles with equal flags
function(d5_precompiled_by target other)
  if(D5_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${other})
  endif()
endfunction()
