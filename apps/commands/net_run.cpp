// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "apps/execution_options.hpp"
#include "apps/model_argument.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/results/results.hpp"
#include "d5/level1_network/profile/network_run.hpp"

namespace d5::command {
namespace {

constexpr const char* kNetRunExamples =
    R"(  d5 net run lenet                              random inputs of valid sizes and values
  d5 net run test_folder/                       the inputs of the folder's first data set
  d5 net run model.onnx --input image=image.npy --output scores=scores.npy --framework torch
  d5 net run model.onnx --input all.npz         a NumPy archive whose arrays are named as the inputs
  d5 net run model.onnx --dim height=320 --dim x:3=320
                                                sizes by name, and by input and axis
  d5 net run lenet resnet-18 --framework reference,torch
                                                several in one table)";

struct NetRunOptions : app::OutputOptions,
                       app::RunOptions,
                       app::ExecutionOptions,
                       app::ModelsArgument {
  std::vector<std::string> outputs;
};

std::string first_values(const Value& value) {
  if (!value.is_tensor()) return to_string(value.desc());
  const std::string text = to_string(value.tensor());
  const std::string desc = to_string(value.tensor().desc());
  return text.starts_with(desc) ? text.substr(std::min(text.size(), desc.size() + 1)) : text;
}

/// Adds a row per output, or a row with the reason why there is none.
void add_rows(TextTable& table, const Measurement& record, const ValueMap& outputs) {
  const std::string &model = record.subject, &word = record.framework;
  for (const auto& [name, value] : outputs) {
    table.add({model, word, name, to_string(value.desc()), first_values(value)});
  }
  const std::string drawn = condition_of(record, "drawn");
  if (!drawn.empty()) table.add({model, word, "", "inputs drawn otherwise", drawn});
  if (record.status == Status::mistrusted) return;
  table.add({model, word, "", std::string(name_of(record.status)), record.reason});
}

int run_net_run(const NetRunOptions& options) {
  app::apply(options);
  app::check_output(options);
  TextTable table({"model", "framework", "output", "what", "first values"});
  const auto results =
      run_networks(models_of(options.models),
                   {.frameworks = options.frameworks,
                    .sizes = app::sizes_of(options),
                    .transforms = app::chain_of(options),
                    .execution = app::execution_of(options, options),
                    .inputs = app::inputs_of(options),
                    .output_files = value_files(options.outputs, "--output"),
                    .on_run = [&](const Measurement& record,
                                  const ValueMap& outputs) { add_rows(table, record, outputs); },
                    .command_options = app::to_line(static_cast<const app::RunOptions&>(options))});
  app::print(table, options.format);
  if (!options.out.empty()) write_results({environment(), results}, options.out);
  return exit_status(results, options.if_unsupported);
}

}  // namespace

void register_net_run(app::Program& program) {
  auto options = std::make_shared<NetRunOptions>();
  auto& command = program.add("net run", "run a network and print its outputs", kNetRunExamples,
                              [options] { return run_net_run(*options); });
  app::add_models_argument(command, *options);
  app::add_size_options(command, *options);
  app::add_input_option(command, *options);
  app::add_transform_option(command, *options);
  command
      .add_option(
          "--output", options->outputs,
          "file to write an output's value to, in NumPy's or ONNX's format; may be repeated")
      ->allow_extra_args(false)
      ->option_text("NAME=FILE.npy|pb");
  app::add_run_options(command, *options);
  app::add_execution_options(command, *options);
  app::add_output_options(command, *options, app::kTableFormats);
  app::add_unsupported_option(command, *options);
}

}  // namespace d5::command
