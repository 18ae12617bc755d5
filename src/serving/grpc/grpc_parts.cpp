// SPDX-License-Identifier: Apache-2.0
#include "serving/grpc/grpc_parts.hpp"

#include <cstring>

#include "core/entries/system_library.hpp"
#include "d5/core/entries/plugin.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {

const GrpcParts& grpc_parts(const std::string& what) {
  const SystemLibrary library("grpc", what,
                              "d5 needs gRPC for it (libgrpc++1.51), and to be built with it "
                              "(libgrpc++-dev, protobuf-compiler-grpc)");
  const GrpcParts& parts = *library.function<const GrpcParts*()>("d5_grpc_parts")();
  if (std::strcmp(parts.stamp, D5_VERSION_STAMP) == 0) return parts;
  throw Unsupported(what + ": the library d5_grpc is of another d5; build it again");
}

}  // namespace d5::detail
