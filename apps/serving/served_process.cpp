// SPDX-License-Identifier: Apache-2.0
#include "apps/served_process.hpp"

#include <cstdlib>
#include <string_view>

#include "apps/serving/child_starter.hpp"
#include "apps/serving/inference_options.hpp"
#include "d5/serving/completions/openai_predictor.hpp"
#include "d5/serving/inference/inference_client.hpp"

namespace d5::app {

void prepare_serving() {
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);  // gRPC's errors reach the user as exceptions
  add_remote_predictor();
  add_openai_predictor();
}

std::optional<int> run_served_process(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == kAnswerAlone) return answer_alone();
  if (is_child_starter(argc, argv)) return start_children();
  return std::nullopt;
}

}  // namespace d5::app
