// SPDX-License-Identifier: Apache-2.0
#include "d5/core/error.hpp"
#include "serving/inference/inference_clients.hpp"

namespace d5::detail {

std::unique_ptr<InferenceClient> grpc_inference_client(const InferenceAddress&,
                                                       const InferenceClientOptions&) {
  throw Unsupported(
      "grpc://: d5 was built without gRPC (libgrpc++-dev, protobuf-compiler-grpc); many servers "
      "answer http:// too");
}

}  // namespace d5::detail
