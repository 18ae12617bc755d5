// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/training_plan.hpp"

#include <fmt/format.h>

#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/profile/network_bench.hpp"
#include "d5/level2_training/data/batch_feed.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"

namespace d5 {
namespace {

/// Options without the files that a run reads or writes.
SessionOptions without_files(SessionOptions options) {
  options.checkpoint.clear();
  options.resume.clear();
  options.save.clear();
  options.loader_threads = 0;  // one batch is all that is read
  return options;
}

/// Describes the training: model, data, length.
void note_parts(Measurement& record, const Recipe& recipe, const DatasetPair& data,
                std::int64_t batch) {
  const TrainingOptions training = recipe.training();
  record.conditions["dataset"] = identity(data.train->description());
  record.conditions["optimizer"] = identity(recipe.choice("optimizer").name);
  record.conditions["batch"] = identity(batch);
  record.conditions["epochs"] = identity(training.epochs);
  if (training.most_batches > 0) {
    record.conditions["most_batches"] = identity(training.most_batches);
  }
}

}  // namespace

std::vector<Measurement> plan_training(const Recipe& recipe, const SessionOptions& options,
                                       const Interrupt& interrupt) {
  Measurement record{.subject = recipe.name(),
                     .level = "training",
                     .framework = ExecutorWord(options.frameworks).text(),
                     .device = to_string(options.device)};
  double bytes = 0;
  detail::plan_only(record, [&] {
    TrainingSession session(recipe, without_files(options), interrupt);
    Optimizer& optimizer = session.trainer().optimizer();
    const auto batch = session.trainer().train_sampler().next();
    if (!batch) throw ValueError(fmt::format("recipe '{}': no batch to train on", recipe.name()));
    note_parts(record, recipe, session.data(), batch->size);
    BatchFeed feed;
    const ValueMap& inputs = feed.of(session.network(), *batch);
    optimizer.executor().plan(inputs, optimizer.loss());
    bytes = detail::predicted_bytes(optimizer.executor(), inputs, optimizer.loss());
  });
  record.metric = "predicted_memory";
  record.unit = "byte";
  record.quantity = Quantity::bytes;
  record.statistic = {.of = Statistic::Of::single};
  if (record.status == Status::skipped && bytes > 0) record.samples = {bytes};
  return {std::move(record)};
}

}  // namespace d5
