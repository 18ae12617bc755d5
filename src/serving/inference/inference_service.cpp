// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/inference/inference_service.hpp"

#include "serving/grpc/grpc_parts.hpp"

namespace d5 {

class InferenceService::Listening {
 public:
  std::unique_ptr<detail::ListeningService> service;
};

InferenceService::InferenceService(InferenceModels& models, const InferenceServiceOptions& options)
    : listening_(std::make_unique<Listening>()) {
  listening_->service =
      detail::grpc_parts("the Open Inference Protocol over gRPC; HTTP has it, too")
          .inference_service(models, options);
}
InferenceService::~InferenceService() = default;
int InferenceService::port() const { return listening_->service->port(); }
std::string InferenceService::address() const { return listening_->service->address(); }
void InferenceService::stop() { listening_->service->stop(); }

}  // namespace d5
