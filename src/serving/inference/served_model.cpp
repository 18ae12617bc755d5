// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/served_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>

#include "d5/core/error.hpp"
#include "d5/core/thread_share.hpp"
#include "d5/core/threads.hpp"
#include "d5/level1_network/model_source.hpp"
#include "serving/inference/model_description.hpp"

namespace d5::detail {

/// A request under way; its owner waits for it.
struct ServedModel::Asked {
  std::size_t left = 0;  ///< queries
  std::vector<RangeAnswer> answers = {};
  std::condition_variable done = {};
};

ServedModel::ServedModel(std::string name, std::string version, const ModelAssets& assets,
                         const InferenceOptions& options) {
  const Network network = open_model(assets.network);
  info_ = described_model(network, options.framework);
  info_.name = std::move(name);
  info_.versions = {std::move(version)};
  ServedOptions served = options.served;
  if (const std::int64_t fixed = fixed_batch(info_); fixed > 0) {
    rows_a_query_ = fixed;
    served.largest_batch = 1;
  }
  served_ = std::make_unique<ServedPredictor>(
      info_.name, 1, [&](int) { return open_instance(assets, options); }, served);
  served_->on_complete([this](std::span<const QueryAnswer> answers) { hear(answers); });
}

ServedModel::~ServedModel() = default;

AnswerBatch ServedModel::open_instance(const ModelAssets& assets, const InferenceOptions& options) {
  struct Instance {
    explicit Instance(int threads) : share(threads) {}
    ThreadShare share;
    std::shared_ptr<Predictor> predictor;
  };
  const int threads = options.threads > 0
                          ? options.threads
                          : std::max(1, d5::threads() / std::max(1, options.served.instances));
  auto instance = std::make_shared<Instance>(threads);
  instance->predictor = open_predictor(
      options.framework, assets,
      {.largest_batch = rows_a_query_ > 1 ? rows_a_query_ : options.served.largest_batch});
  return [this, instance](std::span<const std::int64_t> samples) {
    keep(answer_rows(taken(samples), [&](const ValueMap& inputs) -> const ValueMap& {
      return instance->predictor->predict(inputs);
    }));
    return BatchAnswers(samples.size());  // what they say is kept already
  };
}

std::vector<RowRange> ServedModel::taken(std::span<const std::int64_t> samples) {
  std::vector<RowRange> ranges;
  const std::lock_guard lock(mutex_);
  for (const std::int64_t id : samples) ranges.push_back(waiting_.at(id));
  return joined(ranges);
}

void ServedModel::keep(std::vector<RangeAnswer> answers) {
  const std::lock_guard lock(mutex_);
  for (RangeAnswer& answer : answers) {
    asked_.at(answer.range.request)->answers.push_back(std::move(answer));
  }
}

void ServedModel::hear(std::span<const QueryAnswer> answers) {
  const std::lock_guard lock(mutex_);
  for (const QueryAnswer& answer : answers) {
    const auto place = waiting_.find(answer.id);
    Asked& asked = *asked_.at(place->second.request);
    if (answer.status != Status::passed) {
      asked.answers.push_back({.range = place->second, .fault = std::string(answer.reason)});
    }
    // Under the lock: without it the owner may have gone.
    if (--asked.left == 0) asked.done.notify_all();
    waiting_.erase(place);
  }
}

ValueMap ServedModel::ask(const RequestRows& rows) {
  Asked asked;
  std::vector<Query> queries;
  std::unique_lock lock(mutex_);
  for (std::int64_t begin = 0; begin < rows.rows; begin += rows_a_query_) {
    queries.push_back({.id = next_, .sample = next_});
    waiting_[next_++] = {&rows, begin, begin + rows_a_query_};
  }
  asked.left = queries.size();
  asked_[&rows] = &asked;
  lock.unlock();
  served_->issue(queries);
  lock.lock();
  asked.done.wait(lock, [&] { return asked.left == 0; });
  asked_.erase(&rows);
  lock.unlock();
  return outputs_of(std::move(asked.answers));
}

RequestRows ServedModel::rows_of(const InferenceRequest& request) const {
  RequestRows rows;
  for (const InferenceTensor& input : request.inputs) {
    expect_input(info_, input);
    if (!rows.inputs.emplace(input.name, input.tensor).second) {
      throw ValueError(fmt::format("model '{}': input '{}' is given twice", printable(info_.name),
                                   printable(input.name)));
    }
  }
  rows.rows = samples_of(info_, rows.inputs);
  return rows;
}

InferenceResponse ServedModel::infer(const InferenceRequest& request) {
  const RequestRows rows = rows_of(request);
  const ValueMap outputs = ask(rows);
  InferenceResponse response{
      .model = info_.name, .version = info_.versions[0], .id = request.id, .outputs = {}};
  for (const std::string& name : answered_outputs(info_, outputs, request.outputs)) {
    response.outputs.push_back({name, outputs.at(name).tensor()});
  }
  return response;
}

}  // namespace d5::detail
