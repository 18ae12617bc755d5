// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/served_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/machine/thread_share.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "serving/inference/classification.hpp"
#include "serving/inference/model_description.hpp"

namespace d5::detail {

/// A request under way; its owner waits for it.
struct ServedModel::Asked {
  std::size_t left = 0;    ///< queries
  std::int64_t taken = 0;  ///< time in ns at which an instance took its first query; 0: none
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
  const std::int64_t fixed = fixed_batch(info_);
  if (fixed > 0) {
    rows_a_query_ = fixed;
    served.largest_batch = 1;
  }
  config_ = {.info = info_,
             .backend = options.framework,
             .largest_batch = fixed > 0 ? 0 : served.largest_batch,
             .instances = served.instances,
             .longest_wait = served.longest_wait};
  if (fixed == 0) leave_out_sample(config_.info);
  served_ = std::make_unique<ServedPredictor>(
      info_.name, 1,
      [&](int) {
        return options.alone.empty() ? open_instance(assets, options)
                                     : open_isolated(assets, options);
      },
      served);
  served_->on_complete([this](std::span<const QueryAnswer> answers) { hear(answers); });
}

ServedModel::~ServedModel() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    for (const Isolated& one : isolated_) one.predictor->stop();
  }
  ending_.notify_all();
  served_.reset();
}

PredictorOptions ServedModel::options_of(const InferenceOptions& options) const {
  const int share = std::max(1, d5::threads() / std::max(1, options.served.instances));
  return {.threads = options.threads > 0 ? options.threads : share,
          .largest_batch = rows_a_query_ > 1 ? rows_a_query_ : options.served.largest_batch};
}

AnswerBatch ServedModel::open_instance(const ModelAssets& assets, const InferenceOptions& options) {
  struct Instance {
    explicit Instance(int threads) : share(threads) {}
    ThreadShare share;
    std::shared_ptr<Predictor> predictor;
  };
  PredictorOptions how = options_of(options);
  auto instance = std::make_shared<Instance>(std::exchange(how.threads, 0));
  instance->predictor = open_predictor(options.framework, assets, how);
  return [this, instance](std::span<const std::int64_t> ids) {
    answer(ids, *instance->predictor);
    return BatchAnswers(ids.size());  // what they say is kept already
  };
}

AnswerBatch ServedModel::open_isolated(const ModelAssets& assets, const InferenceOptions& options) {
  auto predictor = std::make_shared<IsolatedPredictor>(
      options.framework, assets, options_of(options),
      ModelCommand{options.alone, options.most_seconds, options.most_bytes, options.first_wait});
  const std::lock_guard lock(mutex_);
  isolated_.push_back({.predictor = predictor});
  return [this, predictor, number = isolated_.size() - 1](std::span<const std::int64_t> ids) {
    answer(ids, *predictor);
    bring_back(number);  // others take what comes meanwhile
    return BatchAnswers(ids.size());
  };
}

void ServedModel::bring_back(std::size_t instance) {
  std::unique_lock lock(mutex_);
  Isolated& one = isolated_[instance];
  IsolatedPredictor& predictor = *one.predictor;
  while (!predictor.is_open() && !is_ending_) {
    one.loss = predictor.loss();
    one.is_waiting = predictor.wait() > 0;
    if (const std::string why = why_nobody_answers(); !why.empty()) refuse_waiting(why);
    ending_.wait_for(lock, std::chrono::duration<double>(predictor.wait()),
                     [&] { return is_ending_; });
    one.is_waiting = false;
    lock.unlock();
    predictor.begin_again();
    lock.lock();
  }
  one.loss.clear();
}

std::string ServedModel::why_nobody_answers() const {
  const bool somebody = isolated_.empty() || !std::ranges::all_of(isolated_, &Isolated::is_waiting);
  return somebody ? std::string() : isolated_[0].predictor->loss();
}

std::string ServedModel::why_not_ready() {
  const std::lock_guard lock(mutex_);
  const auto is_open = [](const Isolated& one) { return one.loss.empty(); };
  if (isolated_.empty() || std::ranges::any_of(isolated_, is_open)) return {};
  const Isolated& first = isolated_[0];
  return first.is_waiting ? first.predictor->loss() : first.loss;  // the wait that is left
}

void ServedModel::answer(std::span<const std::int64_t> ids, Predictor& predictor) {
  AnsweredRows answered = answer_rows(taken(ids), [&](const ValueMap& inputs) -> const ValueMap& {
    return predictor.predict(inputs);
  });
  statistics_.add_executions(answered.executions);
  keep(ids, std::move(answered.answers));
}

std::vector<RowRange> ServedModel::taken(std::span<const std::int64_t> ids) {
  std::vector<RowRange> ranges;
  const std::int64_t now = Trace::now_ns();
  const std::lock_guard lock(mutex_);
  for (const std::int64_t id : ids) {
    const auto place = waiting_.find(id);
    if (place == waiting_.end()) continue;  // it was refused
    place->second.is_taken = true;
    Asked& asked = *asked_.at(place->second.range.request);
    if (!asked.taken) asked.taken = now;
    ranges.push_back(place->second.range);
  }
  return joined(ranges);
}

void ServedModel::keep(std::span<const std::int64_t> ids, std::vector<RangeAnswer> answers) {
  const std::lock_guard lock(mutex_);
  for (RangeAnswer& answer : answers) {
    asked_.at(answer.range.request)->answers.push_back(std::move(answer));
  }
  for (const std::int64_t id : ids) {
    if (const auto place = waiting_.find(id); place != waiting_.end()) end_query(place);
  }
}

/// Fails queries whose answers were not kept: the queue was closed, or memory was exhausted.
void ServedModel::hear(std::span<const QueryAnswer> answers) {
  const std::lock_guard lock(mutex_);
  for (const QueryAnswer& answer : answers) {
    const auto place = waiting_.find(answer.id);
    if (place == waiting_.end()) continue;
    end_query(place, std::make_exception_ptr(Error(std::string(answer.reason))));
  }
}

void ServedModel::refuse_waiting(const std::string& why) {
  for (auto place = waiting_.begin(); place != waiting_.end();) {
    const bool is_left = !place->second.is_taken;
    place = is_left ? end_query(place, std::make_exception_ptr(CommunicationError(why)))
                    : std::next(place);
  }
}

ServedModel::Place ServedModel::end_query(Place place, std::exception_ptr fault) {
  const RowRange& range = place->second.range;
  Asked& asked = *asked_.at(range.request);
  if (fault) asked.answers.push_back({.range = range, .fault = std::move(fault)});
  // Under the lock: without it the owner may have gone.
  if (--asked.left == 0) asked.done.notify_all();
  return waiting_.erase(place);
}

ValueMap ServedModel::ask(const RequestRows& rows, RequestTimes& times) {
  const std::int64_t begun = Trace::now_ns();
  Asked asked;
  std::vector<Query> queries;
  std::unique_lock lock(mutex_);
  if (const std::string why = why_nobody_answers(); !why.empty()) throw CommunicationError(why);
  for (std::int64_t begin = 0; begin < rows.rows; begin += rows_a_query_) {
    queries.push_back({.id = next_, .sample = next_});
    waiting_[next_++].range = {&rows, begin, begin + rows_a_query_};
  }
  asked.left = queries.size();
  asked_[&rows] = &asked;
  lock.unlock();
  served_->issue(queries);
  lock.lock();
  asked.done.wait(lock, [&] { return asked.left == 0; });
  asked_.erase(&rows);
  lock.unlock();
  times.queue = asked.taken - begun;
  for (const RangeAnswer& answer : asked.answers) times.add(answer.execution);
  return outputs_of(std::move(asked.answers));
}

InferenceResponse ServedModel::infer(const InferenceRequest& request) {
  const std::int64_t begun = Trace::now_ns();
  try {
    const RequestRows rows = request_rows(info_, request, rows_a_query_);
    RequestTimes times;
    InferenceResponse response = response_of(request, ask(rows, times));
    times.all = Trace::now_ns() - begun;
    statistics_.add_answer(rows.rows, times);
    return response;
  } catch (...) {
    statistics_.add_failure(Trace::now_ns() - begun);
    throw;
  }
}

InferenceResponse ServedModel::response_of(const InferenceRequest& request,
                                           const ValueMap& outputs) const {
  InferenceResponse response{
      .model = info_.name, .version = info_.versions[0], .id = request.id, .outputs = {}};
  for (const std::string& name : answered_outputs(info_, outputs, request.outputs)) {
    const Tensor& output = outputs.at(name).tensor();
    const auto classes = request.classes.find(name);
    const bool is_whole = classes == request.classes.end();
    response.outputs.push_back(
        {name, is_whole ? output : best_classes(name, output, classes->second)});
  }
  return response;
}

InferenceModelStatistics ServedModel::statistics() {
  InferenceModelStatistics read = statistics_.read();
  read.name = info_.name;
  read.version = info_.versions[0];
  const std::lock_guard lock(mutex_);
  read.waiting = std::ranges::count_if(asked_, [](const auto& one) { return !one.second->taken; });
  return read;
}

}  // namespace d5::detail
