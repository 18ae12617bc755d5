// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>
#include <mutex>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/predictor/predictor.hpp"
#include "d5/serving/inference/inference_client.hpp"

namespace d5 {
namespace {

struct RemoteOptions {
  std::string address, version;
  double seconds = 30;
  void declare(OptionList& options) {
    options.add("address", address,
                "HOST:PORT, http://, https://, grpc:// or grpcs://HOST:PORT, and /MODEL where the "
                "server calls it otherwise; needs no 'address='");
    options.add("version", version, "version of the model; empty: the server chooses");
    options.add("seconds", seconds, "time limit for an answer; a later one is a failed query",
                {.above = 0, .most = 86400});
  }
};

/// "grpc://host:8001", "resnet" of "grpc://host:8001/resnet"; without the second, no model.
std::pair<std::string, std::string> split_address(const std::string& text) {
  const auto mark = text.find("://");
  const auto slash = text.find('/', mark == std::string::npos ? 0 : mark + 3);
  if (slash == std::string::npos) return {text, {}};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

/// Forwards batches to another server.
class RemotePredictor final : public Predictor {
 public:
  using Options = RemoteOptions;
  RemotePredictor(const ModelAssets& assets, const PredictorOptions&, const Options& options) {
    const auto [address, model] = split_address(options.address);
    // Not D5_TOKEN, which is for the server of evaluations alone: this one may be anybody's.
    const char* token = std::getenv("D5_REMOTE_TOKEN");
    client_ =
        open_inference_client(address, {.seconds = options.seconds, .token = token ? token : ""});
    request_.model = model.empty() ? assets.model : model;
    request_.version = options.version;
    const InferenceServerInfo server = client_->server();
    (void)client_->model(request_.model, request_.version);  // it is there, and opened
    name_ = fmt::format("remote:{} ({} {})", printable(options.address), printable(server.name),
                        printable(server.version));
  }
  [[nodiscard]] std::string name() const override { return name_; }

  const ValueMap& predict(const ValueMap& inputs) override {
    request_.inputs.clear();
    for (const auto& [name, value] : inputs) {
      request_.inputs.push_back({name, value.tensor().on_host()});
    }
    InferenceResponse response = client_->infer(request_);
    outputs_.clear();
    for (InferenceTensor& output : response.outputs) {
      outputs_[output.name] = std::move(output.tensor);
    }
    return outputs_;
  }

 private:
  std::string name_;
  std::unique_ptr<InferenceClient> client_;
  InferenceRequest request_;
  ValueMap outputs_;
};

}  // namespace

void add_remote_predictor() {
  static std::once_flag added;
  std::call_once(added, [] {
    predictors().add("remote", PredictorEntry::of<RemotePredictor>(
                                   "asks a server of the Open Inference Protocol"));
  });
}

}  // namespace d5
