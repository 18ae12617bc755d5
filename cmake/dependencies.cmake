# All libraries that d5's own code uses. Frameworks find theirs in their folders.

# The prefix of scripts/setup, with libraries that Debian lacks. Users with their own installation set
# CMAKE_PREFIX_PATH instead.
if(PROJECT_IS_TOP_LEVEL AND NOT D5_DEPS)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/setup --print
                  OUTPUT_VARIABLE D5_DEPS OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(D5_DEPS ${D5_DEPS} CACHE PATH "Prefix made by scripts/setup")
endif()
if(D5_DEPS AND EXISTS ${D5_DEPS})
  list(APPEND CMAKE_PREFIX_PATH ${D5_DEPS}/onnx ${D5_DEPS}/venv)
  if(NOT Python3_EXECUTABLE AND NOT Python_EXECUTABLE)
    set(Python3_EXECUTABLE ${D5_DEPS}/venv/bin/python)
    set(Python_EXECUTABLE ${D5_DEPS}/venv/bin/python)
  endif()
endif()

# d5_require(<package> <Debian's package> <arguments of find_package>...)
#
# Finds a package. All missing ones are reported at once. A macro, because a package sets variables of the caller.
macro(d5_require package debian)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    list(APPEND d5_missing "${package} (${debian})")
  endif()
endmacro()

find_package(Threads REQUIRED)
d5_require(fmt libfmt-dev)
d5_require(nlohmann_json nlohmann-json3-dev 3)
d5_require(yaml-cpp libyaml-cpp-dev)
d5_require(CLI11 libcli11-dev)
d5_require(Eigen3 libeigen3-dev 3.4)
d5_require(Boost "libboost-dev libboost-math-dev" 1.70 CONFIG)
d5_require(ZLIB zlib1g-dev)
d5_require(CURL libcurl4-openssl-dev)
d5_require(OpenSSL libssl-dev)
if(D5_BUILD_EVALUATION)
  d5_require(SQLite3 libsqlite3-dev)
  if(TARGET SQLite::SQLite3 AND NOT TARGET SQLite3::SQLite3)  # as newer CMakes call it
    add_library(SQLite3::SQLite3 ALIAS SQLite::SQLite3)
  endif()
endif()
find_package(PkgConfig QUIET)
foreach(package "hwloc libhwloc-dev" "re2 libre2-dev" "cbc coinor-libcbc-dev" "libisal libisal-dev"
        "libarchive libarchive-dev")
  separate_arguments(package)
  list(POP_BACK package debian)
  if(PkgConfig_FOUND)
    pkg_check_modules(${package} QUIET IMPORTED_TARGET ${package})
  endif()
  if(NOT TARGET PkgConfig::${package})
    list(APPEND d5_missing "${package} (${debian} pkg-config)")
  endif()
endforeach()
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h)
if(NOT RANDOM123_INCLUDE_DIR)
  list(APPEND d5_missing "Random123 (librandom123-dev)")
endif()
# Before ONNX, whose configuration needs protobuf's targets.
d5_require(Protobuf "libprotobuf-dev protobuf-compiler")
d5_require(ONNX "none: scripts/setup builds it" 1.23)
if(d5_missing)
  list(JOIN d5_missing "\n  " d5_missing)
  message(FATAL_ERROR "CMake did not find these dependencies of d5 (Debian packages in brackets):\n  ${d5_missing}\n"
    "On Debian, scripts/setup installs all of them, and d5 then finds them by itself; elsewhere, install "
    "them and list their locations in CMAKE_PREFIX_PATH.")
endif()
# Image formats: each library is optional; core refuses formats without theirs.
pkg_check_modules(jpeg QUIET libjpeg>=2.1)
if(jpeg_FOUND)  # other libraries of that name cannot decode a part of an image
  include(CheckSymbolExists)
  set(CMAKE_REQUIRED_INCLUDES ${jpeg_INCLUDE_DIRS})
  set(CMAKE_REQUIRED_LIBRARIES ${jpeg_LINK_LIBRARIES})
  check_symbol_exists(jpeg_crop_scanline "stdio.h;jpeglib.h" jpeg_reads_parts)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
  set(jpeg_FOUND "${jpeg_reads_parts}")
endif()
pkg_check_modules(jpeg2000 QUIET libopenjp2>=2.5)
pkg_check_modules(png QUIET libpng>=1.6)
pkg_check_modules(webp QUIET libwebp)
pkg_check_modules(sndfile QUIET sndfile>=1.1)  # audio files, likewise
pkg_check_modules(icu QUIET IMPORTED_TARGET icu-uc)  # letters for tokenizers, likewise
if(D5_BUILD_EVALUATION)  # results on a server, MLPerf's load generator, likewise
  pkg_check_modules(libpq QUIET IMPORTED_TARGET libpq)
  find_path(LOADGEN_INCLUDE_DIR mlperf_loadgen/loadgen.h HINTS ${D5_DEPS}/loadgen/include)
  find_library(LOADGEN_LIBRARY mlperf_loadgen HINTS ${D5_DEPS}/loadgen/lib)
endif()
if(D5_WITH_GPL)
  pkg_check_modules(tiff QUIET libtiff-4>=4.5)  # Debian's loads JBIG-KIT
  pkg_check_modules(libav QUIET libavformat libavcodec libavutil libswscale)  # also needed for videos
else()
  set(tiff_FOUND FALSE)
  set(libav_FOUND FALSE)
endif()
if(D5_WITH_MPI)
  find_package(MPI COMPONENTS CXX)
endif()
