// SPDX-License-Identifier: Apache-2.0
#include "apps/program.hpp"

namespace d5::command {
void register_all(app::Program& program);  // generated from the files in commands/
}

int main(int argc, char** argv) {
  d5::app::Program program;
  d5::command::register_all(program);
  return program.run(argc, argv);
}
