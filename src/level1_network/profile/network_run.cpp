// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/network_run.hpp"

#include <fmt/format.h>

#include "d5/core/atomic_file.hpp"
#include "d5/core/clock.hpp"
#include "d5/core/command_line.hpp"
#include "d5/core/error.hpp"
#include "d5/core/npy.hpp"
#include "d5/level1_network/executor_word.hpp"
#include "d5/level1_network/network_validation.hpp"
#include "d5/onnx/file.hpp"

namespace d5 {
namespace {

bool is_npy(const ValueFile& file) { return file.path.ends_with(".npy"); }

const onnx::ValueInfo& input_info(const Network& network, const std::string& name) {
  for (const auto& info : network.graph().inputs) {
    if (info.name == name) return info;
  }
  throw_unknown_name("input", name, network.input_names());
}

/// Given values replace random ones.
ValueMap inputs_of(const std::string& model, const Network& network,
                   const NetworkRunOptions& options) {
  ValueMap given;
  if (is_test_folder(model) && !onnx::open_test_folder(model).data_sets.empty()) {
    given = folder_inputs(model, network);
  }
  for (const auto& [name, value] : options.inputs) {
    (void)input_info(network, name);
    given[name] = value;
  }
  for (const auto& file : options.input_files) {
    const onnx::Type& type = input_info(network, file.name).type;
    given[file.name] =
        is_npy(file) ? Value(read_npy(file.path)) : onnx::load_value(file.path, type);
  }
  if (given.size() == network.input_names().size()) {
    refuse_sizes(options.sizes, model);
    return given;
  }
  ValueMap all = random_inputs(network, options.sizes, options.execution.seed);
  for (auto& [name, value] : given) all[name] = std::move(value);
  return all;
}

void write_outputs(const ValueMap& outputs, const std::vector<ValueFile>& files) {
  std::vector<std::string> names;
  for (const auto& [name, value] : outputs) names.push_back(name);
  for (const auto& file : files) {
    const auto output = outputs.find(file.name);
    if (output == outputs.end()) throw_unknown_name("output", file.name, names);
    const Value& value = output->second;
    if (is_npy(file) && !value.is_tensor()) {
      throw Unsupported(fmt::format("output '{}' is {}, and .npy holds one tensor; write a .pb",
                                    printable(file.name), to_string(value.desc())));
    }
    write_file(file.path,
               is_npy(file) ? to_npy(value.tensor()) : onnx::serialize_value(value, file.name));
  }
}

std::string run_line(const std::string& model, const std::string& word,
                     const NetworkRunOptions& options) {
  CommandLine line("net run");
  line.word(model).append(to_line(options.sizes)).append(to_line(options.transforms));
  for (const auto& file : options.input_files) line.option("--input", file.name + "=" + file.path);
  line.runs_in({word}, options.execution.device).option("--seed", options.execution.seed);
  return line.append(execution_line(options.execution)).append(options.command_options).text();
}

/// What is known of a run before it.
Measurement run_record(const std::string& model, const std::string& word,
                       const NetworkRunOptions& options) {
  Measurement record{.subject = model_name(model),
                     .command = run_line(model, word, options),
                     .level = "network",
                     .framework = word,
                     .device = to_string(options.execution.device),
                     .metric = "time",
                     .unit = "s",
                     .quantity = Quantity::time,
                     .statistic = {.of = Statistic::Of::single},
                     .artefacts = {model_artefact(model)}};
  if (!options.transforms.empty()) record.conditions["transform"] = to_words(options.transforms);
  note_execution(record, options.execution);
  return record;
}

void run_one(const std::string& model, const NetworkRunOptions& options, Measurement& record) {
  const std::string& word = record.framework;
  const Settings wishes = run_wishes(word, options.sizes, options.execution);
  const auto executor =
      open_executor(word, open_model(model, wishes, options.transforms), options.execution);
  const ValueMap inputs = inputs_of(model, executor->network(), options);
  const double begin = now_seconds();
  const ValueMap& outputs = executor->inference(inputs);
  record.samples = {now_seconds() - begin};
  mistrust(record, "one run, planning and first touch of memory included; use 'd5 net bench'");
  if (options.on_run) options.on_run(record, outputs);
  write_outputs(outputs, options.output_files);
}

void check_output_files(const std::vector<ValueFile>& files, std::size_t runs) {
  for (const auto& file : files) {
    if (runs > 1) {
      throw ValueError(
          fmt::format("--output '{}': {} runs would write this file; run one model in "
                      "one framework",
                      printable(file.path), runs));
    }
    check_writable(file.path);
  }
}

}  // namespace

std::vector<ValueFile> value_files(const std::vector<std::string>& words,
                                   const std::string& option) {
  std::vector<ValueFile> files;
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

std::vector<Measurement> run_networks(const std::vector<std::string>& models,
                                      const NetworkRunOptions& options) {
  const std::size_t runs = models.size() * options.frameworks.size();
  check_output_files(options.output_files, runs);
  std::vector<Measurement> records;
  for (const auto& model : models) {
    for (const auto& word : options.frameworks) {
      Measurement& record = records.emplace_back(run_record(model, word, options));
      try {
        run_one(model, options, record);
      } catch (const std::exception&) {
        if (runs == 1) throw;
        record_failure(record, std::current_exception());
        if (options.on_run) options.on_run(record, {});
      }
    }
  }
  return records;
}

}  // namespace d5
