// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/serving/inference/inference_models.hpp"
#include "d5/serving/inference/inference_service.hpp"

namespace CLI {
class App;
}

namespace d5::app {

/// The word that makes this program a process of one model. It is internal, and no command.
inline constexpr const char* kAnswerAlone = "answer-alone";

/// The models that a server runs, and how.
struct InferenceServing {
  std::vector<std::string> models;
  std::string framework = "reference";
  int instances = 1, threads = 0;
  std::int64_t largest_batch = 1;
  double longest_wait = 0;  ///< ms
  int grpc_port = -1;       ///< below 0: none
  double isolate = 60;  ///< s; time limit of an answer in a process of its own; 0: no such process
  std::string memory;   ///< limit of such a process

  void declare(OptionList& options);
};

void add_inference_options(CLI::App& command, InferenceServing& serving);
/// The named models, open; other models of the catalogue are opened on their first request.
[[nodiscard]] std::shared_ptr<InferenceModels> open_inference(const InferenceServing& serving);
/// The same over gRPC, at the address in `where`; null if it is off.
[[nodiscard]] std::unique_ptr<InferenceService> serve_over_grpc(const InferenceServing& serving,
                                                                InferenceModels& models,
                                                                InferenceServiceOptions where);

}  // namespace d5::app
