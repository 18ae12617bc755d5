# gRPC and its code generator. Optional: functions that need it report its absence.
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin)
find_path(GRPC_INCLUDE_DIR grpcpp/grpcpp.h)
foreach(name IN ITEMS grpc++ grpc gpr)
  find_library(GRPC_LIBRARY_${name} ${name})
  list(APPEND GRPC_LIBRARIES ${GRPC_LIBRARY_${name}})
endforeach()
set(GRPC_FOUND FALSE)
if(GRPC_CPP_PLUGIN AND GRPC_INCLUDE_DIR AND NOT "${GRPC_LIBRARIES}" MATCHES "NOTFOUND" AND TARGET protobuf::protoc)
  set(GRPC_FOUND TRUE)
endif()

# d5_add_grpc(<target> <path of a .proto below src/>...)
#
# Generates messages and services, which the target's files include by that path: "serving/agent/agent.grpc.pb.h".
function(d5_add_grpc target)
  set(folder ${PROJECT_BINARY_DIR}/generated/grpc)
  file(MAKE_DIRECTORY ${folder})
  foreach(proto IN LISTS ARGN)
    string(REGEX REPLACE "\\.proto$" "" stem ${proto})
    set(made ${folder}/${stem}.pb.cc ${folder}/${stem}.grpc.pb.cc)
    add_custom_command(
      OUTPUT ${made} ${folder}/${stem}.pb.h ${folder}/${stem}.grpc.pb.h
      COMMAND protobuf::protoc -I ${PROJECT_SOURCE_DIR}/src --cpp_out=${folder} --grpc_out=${folder}
              --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN} ${proto}
      DEPENDS ${PROJECT_SOURCE_DIR}/src/${proto} VERBATIM)
    target_sources(${target} PRIVATE ${made})
    foreach(file IN LISTS made)  # what is generated is not ours to warn of
      d5_compile_alone(${file} COMPILE_OPTIONS "-w")
    endforeach()
  endforeach()
  target_include_directories(${target} SYSTEM PRIVATE ${folder} ${GRPC_INCLUDE_DIR})
  target_link_libraries(${target} PRIVATE ${GRPC_LIBRARIES} protobuf::libprotobuf)
endfunction()
