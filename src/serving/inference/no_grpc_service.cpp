// SPDX-License-Identifier: Apache-2.0
#include "d5/core/error.hpp"
#include "d5/serving/inference_service.hpp"

namespace d5 {

class InferenceService::Listening {};

InferenceService::InferenceService(InferenceModels&, const InferenceServiceOptions&) {
  throw Unsupported(
      "the Open Inference Protocol over gRPC: d5 was built without gRPC (libgrpc++-dev, "
      "protobuf-compiler-grpc); HTTP has the same");
}
InferenceService::~InferenceService() = default;
int InferenceService::port() const { return 0; }
std::string InferenceService::address() const { return {}; }
void InferenceService::stop() {}

}  // namespace d5
