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

/// The word that makes this program a process of one model's own. It is no command: nobody types
/// it.
inline constexpr const char* kAnswerAlone = "answer-alone";

/// Which models a server answers with, and how.
struct InferenceServing {
  std::vector<std::string> models;
  std::string framework = "reference";
  int instances = 1, threads = 0;
  std::int64_t largest_batch = 1;
  double longest_wait = 0;  ///< ms
  int grpc_port = -1;       ///< below 0: none
  double isolate = 60;      ///< s for an answer of a process of its own; 0: none has one
  std::string memory;       ///< of such a process

  void declare(OptionList& options);
};

void add_inference_options(CLI::App& command, InferenceServing& serving);
/// All that were named, open; those of the catalogue are opened when they are asked.
[[nodiscard]] std::shared_ptr<InferenceModels> open_inference(const InferenceServing& serving);
/// The same over gRPC, at the address that `where` tells; null where it was not asked for.
[[nodiscard]] std::unique_ptr<InferenceService> serve_over_grpc(const InferenceServing& serving,
                                                                InferenceModels& models,
                                                                InferenceServiceOptions where);

}  // namespace d5::app
