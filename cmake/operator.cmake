# d5_add_operator(<name> SOURCES <files> LIBRARIES <targets>)
#
# <name>.so, a library of operators against d5/abi.h, for `--load`. It needs d5's header, but no library of d5.
function(d5_add_operator name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_library(${name} MODULE ${arg_SOURCES})
  target_include_directories(${name} PRIVATE
    $<TARGET_PROPERTY:d5::core,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  if(TARGET d5_warnings)
    target_link_libraries(${name} PRIVATE d5_warnings)
  endif()
  set_target_properties(${name} PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden)
endfunction()
