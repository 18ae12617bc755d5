// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/execution_options.hpp"
#include "apps/model_argument.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/clock.hpp"
#include "d5/core/command_line.hpp"
#include "d5/core/error.hpp"
#include "d5/core/npy.hpp"
#include "d5/core/results.hpp"
#include "d5/level1_network/executor_word.hpp"
#include "d5/level1_network/network_validation.hpp"
#include "d5/onnx/file.hpp"

namespace d5::command {
namespace {

constexpr const char* kNetRunExamples =
    R"(  d5 net run lenet                              random inputs
  d5 net run test_folder/                       the inputs of the folder's first data set
  d5 net run model.onnx --input image=image.npy --output scores=scores.npy --framework torch
  d5 net run lenet resnet-18 --framework reference,torch
                                                several in one table)";

struct NetRunOptions : app::OutputOptions,
                       app::RunOptions,
                       app::ExecutionOptions,
                       app::ModelsArgument {
  std::vector<std::string> inputs, outputs;
};

/// NAME=FILE
struct NamedFile {
  std::string name, path;
  [[nodiscard]] bool is_npy() const { return path.ends_with(".npy"); }
};

/// Throws: ValueError for what is neither NumPy's nor ONNX's kind of file.
std::vector<NamedFile> files_of(const std::vector<std::string>& words, const char* option) {
  std::vector<NamedFile> files;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    const bool known = word.ends_with(".npy") || word.ends_with(".pb");
    if (equals == std::string::npos || !known) {
      throw ValueError(
          fmt::format("{} '{}': expected NAME=FILE.npy or NAME=FILE.pb", option, printable(word)));
    }
    files.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return files;
}

const onnx::ValueInfo& input_info(const Network& network, const std::string& name) {
  for (const auto& info : network.graph().inputs) {
    if (info.name == name) return info;
  }
  throw_unknown_name("input", name, network.input_names());
}

/// Values in files replace random ones.
ValueMap inputs_of(const std::string& model, const Network& network, const NetRunOptions& options) {
  ValueMap given;
  if (is_test_folder(model) && !onnx::open_test_folder(model).data_sets.empty()) {
    given = folder_inputs(model, network);
  }
  for (const auto& file : files_of(options.inputs, "--input")) {
    const onnx::Type& type = input_info(network, file.name).type;
    given[file.name] =
        file.is_npy() ? Value(read_npy(file.path)) : onnx::load_value(file.path, type);
  }
  if (given.size() == network.input_names().size()) {
    refuse_sizes(app::sizes_of(options), model);
    return given;
  }
  ValueMap all = random_inputs(network, app::sizes_of(options), options.seed);
  for (auto& [name, value] : given) all[name] = std::move(value);
  return all;
}

void write_outputs(const ValueMap& outputs, const std::vector<NamedFile>& files) {
  std::vector<std::string> names;
  for (const auto& [name, value] : outputs) names.push_back(name);
  for (const auto& file : files) {
    const auto output = outputs.find(file.name);
    if (output == outputs.end()) throw_unknown_name("output", file.name, names);
    const Value& value = output->second;
    if (file.is_npy() && !value.is_tensor()) {
      throw Unsupported(fmt::format("output '{}' is {}, and .npy holds one tensor; write a .pb",
                                    printable(file.name), to_string(value.desc())));
    }
    write_file(file.path,
               file.is_npy() ? to_npy(value.tensor()) : onnx::serialize_value(value, file.name));
  }
}

std::string first_values(const Value& value) {
  if (!value.is_tensor()) return to_string(value.desc());
  const std::string text = to_string(value.tensor());
  const std::string desc = to_string(value.tensor().desc());
  return text.starts_with(desc) ? text.substr(std::min(text.size(), desc.size() + 1)) : text;
}

std::string command_of(const std::string& model, const NetRunOptions& options,
                       const std::string& word) {
  CommandLine line("net run");
  line.word(model).append(to_line(app::sizes_of(options)));
  line.append(to_line(app::chain_of(options)));
  for (const auto& input : options.inputs) line.option("--input", input);
  line.runs_in({word}, device_from_name(options.device)).option("--seed", options.seed);
  line.append(execution_line(app::execution_of(options, options)));
  return line.append(app::to_line(static_cast<const app::RunOptions&>(options))).text();
}

/// What is known of a run before it.
Measurement record_of(const std::string& model, const NetRunOptions& options,
                      const std::string& word, const TransformChain& chain) {
  Measurement record{.subject = model_name(model),
                     .command = command_of(model, options, word),
                     .level = "network",
                     .framework = word,
                     .device = to_string(device_from_name(options.device)),
                     .metric = "time",
                     .unit = "s",
                     .quantity = Quantity::time,
                     .statistic = {.of = Statistic::Of::single},
                     .artefacts = {model_artefact(model)}};
  if (!chain.empty()) record.conditions["transform"] = to_words(chain);
  note_execution(record, app::execution_of(options, options));
  return record;
}

/// Runs one model in one framework: a row an output.
void run_one(const std::string& model, const NetRunOptions& options, const TransformChain& chain,
             Measurement& record, TextTable& table) {
  const std::string& word = record.framework;
  const ExecutorOptions execution = app::execution_of(options, options);
  const Settings wishes = run_wishes(word, app::sizes_of(options), execution);
  const auto executor = open_executor(word, open_model(model, wishes, chain), execution);
  const ValueMap inputs = inputs_of(model, executor->network(), options);
  const double begin = now_seconds();
  const ValueMap& outputs = executor->inference(inputs);
  record.samples = {now_seconds() - begin};
  mistrust(record, "one run, planning and first touch of memory included; use 'd5 net bench'");
  for (const auto& [output, value] : outputs) {
    table.add({record.subject, word, output, to_string(value.desc()), first_values(value)});
  }
  write_outputs(outputs, files_of(options.outputs, "--output"));
}

/// Throws: ValueError, IoError, for files that could not be written after the run.
void check_output_files(const NetRunOptions& options, std::size_t runs) {
  for (const auto& file : files_of(options.outputs, "--output")) {
    if (runs > 1) {
      throw ValueError(
          fmt::format("--output '{}': {} runs would write this file; run one model in "
                      "one framework",
                      printable(file.path), runs));
    }
    check_writable(file.path);
  }
}

int run_net_run(const NetRunOptions& options) {
  const auto models = models_of(options.models);
  const std::size_t runs = models.size() * options.frameworks.size();
  check_output_files(options, runs);
  app::apply(options);
  app::check_output(options);
  const TransformChain chain = app::chain_of(options);
  TextTable table({"model", "framework", "output", "what", "first values"});
  std::vector<Measurement> results;
  for (const auto& model : models) {
    for (const auto& word : options.frameworks) {
      Measurement& record = results.emplace_back(record_of(model, options, word, chain));
      try {
        run_one(model, options, chain, record, table);
      } catch (const std::exception&) {
        if (runs == 1) throw;
        record_failure(record, std::current_exception());
        table.add({record.subject, word, "", std::string(name_of(record.status)), record.reason});
      }
    }
  }
  app::print(table, options.format);
  if (!options.out.empty()) write_results({environment(), results}, options.out);
  return exit_status(results, options.if_unsupported);
}

}  // namespace

void register_net_run(app::Program& program) {
  auto options = std::make_shared<NetRunOptions>();
  auto& command = program.add("net run", "what a network answers", kNetRunExamples,
                              [options] { return run_net_run(*options); });
  app::add_models_argument(command, *options);
  app::add_size_options(command, *options);
  app::add_transform_option(command, *options);
  command
      .add_option("--input", options->inputs,
                  "an input's value, from NumPy's or ONNX's kind of file; may be repeated")
      ->allow_extra_args(false)
      ->option_text("NAME=FILE.npy|pb");
  command
      .add_option("--output", options->outputs,
                  "write an output's value to such a file; may be repeated")
      ->allow_extra_args(false)
      ->option_text("NAME=FILE.npy|pb");
  app::add_run_options(command, *options);
  app::add_execution_options(command, *options);
  app::add_output_options(command, *options);
  app::add_verdict_option(command, *options);
}

}  // namespace d5::command
