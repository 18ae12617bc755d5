// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/model_argument.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/say.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level1_network/graph/transform_doubt.hpp"
#include "d5/onnx/file.hpp"

namespace d5::command {
namespace {

constexpr const char* kNetSaveExamples =
    R"(  d5 net save lenet lenet.onnx                  a built-in network, with its seeded weights
  d5 net save model.onnx smaller.onnx --transform fold-batch-norm,dead-code
  d5 net save large.onnx split.onnx --external-data
                                                keep the weights in a second file, split.onnx.data)";

struct NetSaveOptions : app::OutputOptions, app::TransformOptions {
  std::string model, file;
  std::uint64_t seed = 0;
  std::vector<std::string> load;
  bool external_data = false;
};

int run_net_save(const NetSaveOptions& options) {
  app::load(options.load);
  check_writable(options.file);
  const Network network =
      open_model(options.model, {{"seed", options.seed}}, app::chain_of(options));
  network.save(options.file, {.external_data = options.external_data});
  if (const auto doubt = doubt_of(network); !doubt.empty()) app::say(doubt);
  if (!options.quiet) app::say(fmt::format("network written to {}", printable(options.file)));
  return app::kPassed;
}

}  // namespace

void register_net_save(app::Program& program) {
  auto options = std::make_shared<NetSaveOptions>();
  auto& command = program.add("net save", "write a network, transformed or not, to an ONNX file",
                              kNetSaveExamples, [options] { return run_net_save(*options); });
  app::add_model_argument(command, options->model);
  command.add_option("FILE", options->file, "file to write")->required();
  app::add_transform_option(command, *options);
  command.add_flag("--external-data", options->external_data,
                   "write the weights to FILE.data; always done above protobuf's limit of 2 GB");
  command.add_option("--seed", options->seed, "seed of a built-in network's weights")
      ->transform(app::natural_number())
      ->option_text("N");
  app::add_load_option(command, options->load);
  app::add_quiet_option(command, *options);
}

}  // namespace d5::command
