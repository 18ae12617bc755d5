// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "apps/program.hpp"
#include "apps/say.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/build_operators.hpp"
#include "d5/level0_ops/operator/custom_operator.hpp"

namespace d5::command {
namespace {

constexpr const char* kOpBuildExamples =
    R"(  d5 op build log_cosh.cpp                      print the path of the library
  d5 op build log_cosh.cpp -o log_cosh.so
  d5 op check --load log_cosh.cpp "example.LogCosh 3x4"
                                                build and load in one step)";

struct OpBuildOptions {
  std::string source, output;
};

int run_op_build(const OpBuildOptions& options) {
  const std::string library = build_operators(options.source, options.output);
  const auto names = load_custom_operators(library);
  app::say(fmt::format("note: operators {}",
                       printable_message(fmt::format("{}", fmt::join(names, ", ")))));
  fmt::print("{}\n", library);
  return app::kPassed;
}

}  // namespace

void register_op_build(app::Program& program) {
  auto options = std::make_shared<OpBuildOptions>();
  auto& command = program.add("op build", "compile custom operators against d5/abi.h",
                              kOpBuildExamples, [options] { return run_op_build(*options); });
  command.add_option("FILE", options->source, "source of the operators, in C, C++ or CUDA")
      ->required();
  command
      .add_option("-o,--output", options->output,
                  "library to write; in the user's cache if left out")
      ->option_text("FILE.so");
}

}  // namespace d5::command
