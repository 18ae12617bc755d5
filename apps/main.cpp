// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string_view>

#include "apps/child_starter.hpp"
#include "apps/inference_options.hpp"
#include "apps/program.hpp"
#include "d5/level2_training/step_graph.hpp"
#include "d5/level3_distributed/communication_operators.hpp"
#include "d5/serving/inference_client.hpp"

namespace d5::command {
void register_all(app::Program& program);  // generated from the files in commands/
}

int main(int argc, char** argv) {
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);  // what matters of gRPC comes as an error
  d5::add_update_operator();
  d5::add_communication_operators();
  d5::add_remote_predictor();
  if (argc == 2 && std::string_view(argv[1]) == d5::app::kAnswerAlone) return d5::answer_alone();
  if (d5::app::is_child_starter(argc, argv)) return d5::app::start_children();
  d5::app::Program program;
  d5::command::register_all(program);
  return program.run(argc, argv);
}
