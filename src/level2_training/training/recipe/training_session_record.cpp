// SPDX-License-Identifier: Apache-2.0
// Content of a training's records.
#include <algorithm>
#include <iterator>

#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level2_training/training/training_session.hpp"
#include "level2_training/training/trained_model.hpp"

namespace d5 {

Measurement TrainingSession::record() const {
  Measurement result;
  result.subject = recipe_.name();
  result.command = command();
  result.level = "training";
  result.framework = ExecutorWord(options_.frameworks).text();
  result.framework_version = version_of(result.framework);
  result.device = to_string(options_.device);
  result.conditions["dataset"] = identity(data_.train->description());
  result.conditions["seed"] = setting(training_.seed);
  note_execution(result, execution());
  if (training_.precision != TrainingOptions::Precision::float32) {
    result.conditions["precision"] = identity(recipe_.section("training").text("precision", ""));
  }
  result.conditions["model"] = identity(model_->name);
  result.conditions["optimizer"] = identity(recipe_.choice("optimizer").name);
  if (!learning_rate_.empty())
    result.conditions["learning_rate"] = {typed_value(learning_rate_), Role::identity};
  const auto sampling = read_shared_options<SamplerOptions>(recipe_.section("sampler"));
  result.conditions["batch"] = identity(sampling.batch_size);
  if (const std::int64_t out = train_->left_out(); out > 0) {
    result.conditions["left_out"] = finding(out);
  }
  LossWeight& loss = optimizer_->loss_weight();
  if (const std::string counted = loss.counted(); !counted.empty()) {
    result.conditions["loss_counts"] = finding(counted);
  } else if (const std::string why = loss.assumption(); !why.empty()) {
    result.conditions["loss_counts"] = finding("samples, taken for a mean over them: " + why);
  }
  if (options_.loader_threads > 0) {
    result.conditions["loader_threads"] = identity(options_.loader_threads);
  }
  result.artefacts = {{.name = "recipe " + recipe_.name(), .sha256 = recipe_.checksum()}};
  std::ranges::copy(model_->artefacts, std::back_inserter(result.artefacts));
  std::ranges::copy(model_->begun_with, std::back_inserter(result.artefacts));
  for (const auto& part : {data_.train, data_.test}) {
    if (part) std::ranges::copy(part->artefacts(), std::back_inserter(result.artefacts));
  }
  return result;
}

/// Checkpoints are left out: a resumed training reports the same command as an uninterrupted one.
std::string TrainingSession::command() const {
  CommandLine line = recipe_.command();
  line.runs_in({ExecutorWord(options_.frameworks).text()}, options_.device);
  if (!options_.data.empty()) line.option("--data", options_.data);
  if (!options_.init.path.empty()) line.option("--init", options_.init.path);
  if (options_.init.differing == InitialValues::Differing::leave) {
    line.word("--init-skip-differing");
  }
  if (options_.loader_threads > 0) line.option("--loader-threads", options_.loader_threads);
  line.append(execution_line(execution()));
  return line.metrics(options_.metrics).append(options_.command_options).text();
}

}  // namespace d5
