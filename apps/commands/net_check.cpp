// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/declared_options.hpp"
#include "apps/execution_options.hpp"
#include "apps/model_argument.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/reduction.hpp"
#include "apps/value_checks.hpp"
#include "apps/work_list.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/validation/network_check.hpp"
#include "d5/level1_network/validation/network_reduction.hpp"

namespace d5::command {
namespace {

constexpr const char* kNetCheckExamples =
    R"(  d5 net check test_folder/                     compare with the outputs that the folder expects
  d5 net check model.onnx --framework torch     compare with the reference, on random inputs
  d5 net check model.onnx --framework all       every framework, and their own executors
  d5 net check model.onnx --input x=x.npy --framework torch
                                                your own input; works with a test folder's model, too
  d5 net check lenet --framework torch --batch 8
                                                a built-in network: gradients too
  d5 net check lenet --numeric 8                compare gradients with finite differences
  d5 net check resnet-18 --transform fold-batch-norm
                                                compare a transformed network with the original
  d5 net check resnet-18 --framework torch --by-node
                                                which node differs first, and which by itself
  d5 net check model.onnx --framework openvino:compiled --reduce few/
                                                find the smallest part of the network that a framework
                                                gets wrong, refuses or crashes on; run it again to
                                                continue
  d5 net check lenet --framework torch --backward --reduce few/
                                                the same for wrong gradients
  d5 net check model.onnx --framework torch --against onnxruntime:session --slower 2 --reduce few/
                                                the same for nodes that take twice as long
  d5 net check test_folders/ --filter relu --out results.json --resume
                                                several, resuming an interrupted run)";

struct NetCheckOptions : app::OutputOptions,
                         app::RunOptions,
                         app::ExecutionOptions,
                         app::ModelsArgument,
                         app::ListOptions,
                         app::ToleranceOptions {
  NetworkCheckOptions check = {};
  app::ReductionOptions reduction = {};
};

int run_net_check(NetCheckOptions options) {
  app::apply(options, executor_words);
  NetworkCheckOptions how = options.check;
  how.frameworks = options.frameworks;
  how.sizes = app::sizes_of(options);
  how.inputs = app::inputs_of(options);
  how.transforms = app::chain_of(options);
  how.execution = app::execution_of(options, options);
  how.tolerance = app::tolerance_of(options);
  how.reduce_seconds = options.reduction.most_seconds;
  how.on_reduction = [sayer = app::ReductionSayer(options)](const ReductionProgress& now) mutable {
    sayer.say(fmt::format("{} node{}", now.nodes, now.nodes == 1 ? "" : "s"), now.tries,
              now.seconds);
  };
  how.isolation = app::isolation_of_reduction(options.reduction, options);
  how.interrupt = app::ctrl_c();
  how.command_options = app::to_line(static_cast<const app::RunOptions&>(options)) +
                        app::to_line(options.reduction.isolation);
  for (const auto& model : options.models) expect_checkable(model, how);
  if (!how.reduce.empty() && models_of(options.models).size() != 1) {
    throw ValueError("--reduce is for one model at a time");
  }
  const auto models = models_of(options.models);
  const auto sizes = sizes_of_models(models, how.sizes);
  std::vector<WorkPiece> work;
  for (std::size_t i = 0; i < models.size(); ++i) {
    WorkPiece& one = work.emplace_back();
    one.record = error_record();
    one.record.subject = models[i];
    one.record.level = "network";
    one.samples = std::int64_t(options.frameworks.size());
    const auto with_sizes = [&, i] {
      NetworkCheckOptions own = how;
      own.sizes = sizes[i];
      return own;
    };
    one.run = [&, i, with_sizes](const std::function<void()>& sampled) {
      NetworkCheckOptions with_progress = with_sizes();
      with_progress.on_framework = sampled;
      return check_network(models[i], with_progress);
    };
    one.plan = [&, i, with_sizes] { return plan_network_check(models[i], with_sizes()); };
  }
  return app::run_list(work, options, options);
}

}  // namespace

void register_net_check(app::Program& program) {
  auto options = std::make_shared<NetCheckOptions>();
  auto& command = program.add("net check", "validate a network's outputs and gradients",
                              kNetCheckExamples, [options] { return run_net_check(*options); });
  app::add_models_argument(command, *options);
  app::add_size_options(command, *options);
  app::add_input_option(command, *options);
  app::add_transform_option(command, *options);
  app::add_list_options(command, *options);
  app::add_declared_options(command, options->check, "Checking");
  app::add_reduction_options(command, options->reduction);
  command
      .add_option("--isolate", options->reduction.isolation.most_seconds,
                  "time limit of each try of --reduce; a try that takes longer hangs, which is a "
                  "difference, too")
      ->transform(app::positive_number())
      ->option_text("S")
      ->needs("--reduce");
  app::add_tolerance_options(command, *options, "the rounding bound");
  app::add_run_options(command, *options);
  app::add_execution_options(command, *options);
  app::add_output_options(command, *options);
  app::add_unsupported_option(command, *options);
}

}  // namespace d5::command
