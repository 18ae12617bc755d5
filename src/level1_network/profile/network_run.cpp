// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/profile/network_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/core/tensor/npy.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/onnx/file.hpp"
#include "level0_ops/validation/evidence.hpp"
#include "level1_network/source/input_drawing.hpp"
#include "level1_network/validation/moved_outputs.hpp"

namespace d5 {
namespace {

bool is_npy(const ValueFile& file) { return file.path.ends_with(".npy"); }

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
  line.word(model).append(to_line(options.sizes)).append(to_line(options.inputs));
  line.append(to_line(options.transforms));
  line.runs_in({word}, options.execution.device).option("--seed", options.execution.seed);
  return line.append(execution_line(options.execution)).append(options.command_options).text();
}

/// Whether some output is not evidence of a computation, as one of NaNs alone.
bool says_nothing(const ValueMap& outputs) {
  return std::ranges::any_of(outputs, [](const auto& output) {
    return !detail::evidence_in(output.second).lack(detail::Expectation::computed).empty();
  });
}

/// The parts of a run's record that are known before it.
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
  if (!options.transforms.empty())
    record.conditions["transform"] = identity(to_words(options.transforms));
  note_execution(record, options.execution);
  return record;
}

void run_one(const std::string& model, const NetworkRunOptions& options, Measurement& record) {
  const std::string& word = record.framework;
  const Settings wishes = run_wishes(word, options.sizes, options.execution);
  const auto executor =
      open_executor(word, open_model(model, wishes, options.transforms), options.execution);
  const std::uint64_t seed = options.execution.seed;
  NetworkInputs inputs = network_inputs(model, *executor, options.sizes, options.inputs, seed);
  const ValueMap* answered = nullptr;
  const auto run = [&] {
    const double begin = now_seconds();
    with_advice(inputs, [&] { answered = &executor->inference(inputs.values); });
    record.samples = {now_seconds() - begin};
  };
  run();
  if (!inputs.made.empty() && says_nothing(*answered)) {
    inputs = inputs_that_tell(
        executor->network(), inputs, options.sizes, seed,
        [&](const ValueMap& values) { return outputs_that_seem_silent(*executor, values); });
    run();
  }
  note_inputs(record, options.sizes, executor->network(), inputs);
  const ValueMap& outputs = *answered;
  mistrust(record, "one run, planning and first touch of memory included; use 'd5 net bench'");
  if (options.on_run) options.on_run(record, outputs);
  write_outputs(outputs, options.output_files);
}

void check_output_files(const std::vector<ValueFile>& files, std::size_t runs) {
  for (const auto& file : files) {
    if (runs > 1) {
      throw ValueError(
          fmt::format("{} '{}': {} runs would write this file; run one model in one framework",
                      option_word("output"), printable(file.path), runs));
    }
    check_writable(file.path);
  }
}

}  // namespace

std::vector<Measurement> run_networks(const std::vector<std::string>& models,
                                      const NetworkRunOptions& options) {
  const std::size_t runs = models.size() * options.frameworks.size();
  check_output_files(options.output_files, runs);
  std::vector<Measurement> records;
  const auto sizes = sizes_of_models(models, options.sizes);
  for (std::size_t i = 0; i < models.size(); ++i) {
    NetworkRunOptions own = options;
    own.sizes = sizes[i];
    for (const auto& word : options.frameworks) {
      Measurement& record = records.emplace_back(run_record(models[i], word, own));
      try {
        run_one(models[i], own, record);
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
