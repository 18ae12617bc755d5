// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/execution_options.hpp"
#include "apps/model_argument.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/clock.hpp"
#include "d5/core/command_line.hpp"
#include "d5/core/error.hpp"
#include "d5/core/results.hpp"
#include "d5/level1_network/executor_word.hpp"
#include "d5/onnx/file.hpp"

namespace d5::command {
namespace {

constexpr const char* kExamples = R"(  d5 net run lenet                              random inputs
  d5 net run test_folder/                       the inputs of the folder's first data set
  d5 net run model.onnx --input image=input_0.pb --framework torch)";

struct Options : app::OutputOptions, app::RunOptions, app::ExecutionOptions, app::ModelArgument {
  std::vector<std::string> inputs;
};

const onnx::ValueInfo& input_info(const Network& network, const std::string& name) {
  for (const auto& info : network.graph().inputs) {
    if (info.name == name) return info;
  }
  throw_unknown_name("input", name, network.input_names());
}

/// Values in ONNX's own files replace random ones.
ValueMap inputs_of(const Network& network, const Options& options) {
  ValueMap given;
  if (is_test_folder(options.model)) {
    const auto folder = onnx::open_test_folder(options.model);
    const auto names = network.input_names();
    if (!folder.data_sets.empty()) {
      const auto& files = folder.data_sets.front().inputs;
      for (std::size_t i = 0; i < files.size() && i < names.size(); ++i) {
        given[names[i]] = onnx::load_value(files[i], input_info(network, names[i]).type);
      }
    }
  }
  for (const auto& word : options.inputs) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) {
      throw ValueError(fmt::format("--input '{}': expected NAME=FILE.pb", printable(word)));
    }
    const std::string name = word.substr(0, equals);
    given[name] = onnx::load_value(word.substr(equals + 1), input_info(network, name).type);
  }
  if (given.size() == network.input_names().size()) {
    app::refuse_sizes(options, options.model);
    return given;
  }
  ValueMap all = random_inputs(network, app::sizes_of(options), options.seed);
  for (auto& [name, value] : given) all[name] = std::move(value);
  return all;
}

std::string first_values(const Value& value) {
  if (!value.is_tensor()) return to_string(value.desc());
  const std::string text = to_string(value.tensor());
  const std::string desc = to_string(value.tensor().desc());
  return text.starts_with(desc) ? text.substr(std::min(text.size(), desc.size() + 1)) : text;
}

std::string command_of(const Options& options, const std::string& word) {
  CommandLine line("net run");
  line.word(options.model).append(to_line(app::sizes_of(options)));
  line.append(to_line(app::chain_of(options)));
  for (const auto& input : options.inputs) line.option("--input", input);
  line.runs_in({word}, device_from_name(options.device)).option("--seed", options.seed);
  line.append(execution_line(app::execution_of(options, options)));
  return line.append(app::to_line(static_cast<const app::RunOptions&>(options))).text();
}

int run(const Options& options) {
  app::apply(options);
  app::check_output(options);
  const TransformChain chain = app::chain_of(options);
  const ExecutorOptions execution = app::execution_of(options, options);
  TextTable table({"framework", "output", "what", "first values"});
  std::vector<Measurement> results;
  for (const auto& word : options.frameworks) {
    const auto executor = open_executor(
        word, open_model(options.model, run_wishes(word, sizes_of(options), execution), chain),
        execution);
    const ValueMap inputs = inputs_of(executor->network(), options);
    const double begin = now_seconds();
    const ValueMap& outputs = executor->inference(inputs);
    const double end = now_seconds();
    for (const auto& [name, value] : outputs) {
      table.add({word, name, to_string(value.desc()), first_values(value)});
    }
    Measurement& result = results.emplace_back();
    result.subject = model_name(options.model);
    result.command = command_of(options, word);
    result.level = "network";
    result.framework = word;
    result.device = to_string(device_from_name(options.device));
    result.metric = "time";
    result.unit = "s";
    result.quantity = Quantity::time;
    result.statistic = {.of = Statistic::Of::single};
    result.artefacts = {model_artefact(options.model)};
    if (!chain.empty()) result.conditions["transform"] = to_words(chain);
    note_execution(result, execution);
    result.samples = {end - begin};
    mistrust(result, "one run, planning and first touch of memory included; use 'd5 net bench'");
  }
  app::print(table, options.format);
  if (!options.out.empty()) write_results({environment(), results}, options.out);
  return app::kPassed;
}

}  // namespace

void register_net_run(app::Program& program) {
  auto options = std::make_shared<Options>();
  auto& command = program.add("net run", "what a network answers", kExamples,
                              [options] { return run(*options); });
  app::add_model_argument(command, *options);
  app::add_size_options(command, *options);
  app::add_transform_option(command, *options);
  command
      .add_option("--input", options->inputs,
                  "an input's value, from an ONNX tensor file; may be repeated")
      ->allow_extra_args(false)
      ->option_text("NAME=FILE.pb");
  app::add_run_options(command, *options);
  app::add_execution_options(command, *options);
  app::add_output_options(command, *options);
}

}  // namespace d5::command
