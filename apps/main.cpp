// SPDX-License-Identifier: Apache-2.0
#include "apps/program.hpp"
#include "apps/served_process.hpp"
#include "d5/level2_training/optimization/step_graph.hpp"
#include "d5/level3_distributed/graph/communication_operators.hpp"

namespace d5::command {
void register_all(app::Program& program);  // generated from the files in commands/
}

int main(int argc, char** argv) {
  d5::app::prepare_serving();
  d5::add_update_operator();
  d5::add_communication_operators();
  if (const auto status = d5::app::run_served_process(argc, argv)) return *status;
  d5::app::Program program;
  d5::command::register_all(program);
  return program.run(argc, argv);
}
