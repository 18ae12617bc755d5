// SPDX-License-Identifier: Apache-2.0
#include "apps/serving/child_starter.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "apps/program.hpp"
#include "d5/core/results/environment.hpp"
#include "d5/onnx/schema.hpp"
#include "d5/serving/agent/agent.hpp"

namespace d5::command {
void register_eval_run(app::Program& program);
}

namespace d5::app {

bool is_child_starter(int argc, char** argv) {
  return argc == 2 && std::string_view(argv[1]) == kStartChildren;
}

int start_children() {
  Program program;  // with one command: a child copies each page of it that it writes to
  command::register_eval_run(program);
  (void)environment();
  onnx::Node any;
  any.op_type = "Relu";
  any.opset = onnx::newest_opset("");
  (void)onnx::schema_of(any);  // the first use builds all of ONNX's schemas
  return d5::start_children([&program](std::vector<std::string> words) -> int {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const int status = program.run(int(words.size()), pointers.data());
    // Skips destructors: they would free the starter's memory, and copying it for that takes long.
    std::fflush(nullptr);
    std::_Exit(status);
  });
}

}  // namespace d5::app
