// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/program.hpp"
#include "d5/evaluation/manifest/described_model.hpp"

namespace d5::command {
namespace {

constexpr const char* kNetDescribeExamples =
    R"(  d5 net describe mine.onnx > mine.yaml      facts from the file, and guesses for the rest
  d5 eval lint mine.yaml
  d5 eval run mine.yaml --dataset flowers.yaml --framework torch,reference

Fill in the task, the licence, and the preprocessing steps of the training.)";

struct NetDescribeOptions {
  std::string file, name;
};

int run_net_describe(const NetDescribeOptions& options) {
  fmt::print("{}", described_model(options.file, options.name));
  return app::kPassed;
}

}  // namespace

void register_net_describe(app::Program& program) {
  auto options = std::make_shared<NetDescribeOptions>();
  auto& command =
      program.add("net describe", "write an ONNX file's manifest, for 'd5 eval run'",
                  kNetDescribeExamples, [options] { return run_net_describe(*options); });
  command.add_option("FILE", options->file, "network file")->required();
  command.add_option("--name", options->name, "name of the model; by default the file's")
      ->option_text("NAME");
}

}  // namespace d5::command
