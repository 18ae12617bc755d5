// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/pipeline_server.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/thread_pool/new_thread.hpp"
#include "d5/core/machine/thread_share.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/evaluation/accuracy/accuracy_measure.hpp"
#include "evaluation/load/system_counters.hpp"
#include "evaluation/pipeline/network_answer.hpp"

namespace d5::detail {

PipelineServer::PipelineServer(ModelPipeline& pipeline, std::string name, OpenPredictor open,
                               const Options& options)
    : pipeline_(pipeline),
      name_(std::move(name)),
      open_(std::move(open)),
      instance_threads_(options.instance_threads),
      most_(std::size_t(
          std::max<std::int64_t>({2 * options.served.instances * options.served.largest_batch,
                                  options.stage_threads, 4}))) {
  served_ = std::make_unique<ServedPredictor>(
      name_, pipeline_.size(), [this](int instance) { return open_instance(instance); },
      options.served);
  served_->on_complete([this](std::span<const QueryAnswer> predicted) { hear(predicted); });
  try {
    behind_ = new_thread<std::thread>(name_, [this] { answer(); });
    for (int i = 0; i < options.stage_threads; ++i) {
      before_.push_back(new_thread<std::thread>(name_, [this] { prepare(); }));
    }
  } catch (...) {
    end();
    throw;
  }
}

PipelineServer::~PipelineServer() {
  end();
  for (const Query& query : waiting_) fail(query, 0, "it was closed");
}

void PipelineServer::end() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  asked_.notify_all();
  for (std::thread& thread : before_) thread.join();
  served_.reset();
  {
    const std::lock_guard lock(mutex_);
    answered_ = true;
  }
  predicted_.notify_all();
  if (behind_.joinable()) behind_.join();
}

void PipelineServer::issue(std::span<const Query> queries) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.insert(waiting_.end(), queries.begin(), queries.end());
    flushed_ = false;
  }
  if (queries.size() == 1) return asked_.notify_one();
  asked_.notify_all();
}

void PipelineServer::flush() {
  {
    const std::lock_guard lock(mutex_);
    flushed_ = true;
    if (!waiting_.empty() || preparing_ > 0) return;
  }
  served_->flush();
}

void PipelineServer::prepare() {
  std::unique_lock lock(mutex_);
  for (;;) {
    asked_.wait(lock, [&] { return closed_ || (!waiting_.empty() && prepared_ < most_); });
    if (closed_) return;
    const Query query = waiting_.front();
    waiting_.pop_front();
    ++preparing_;
    ++prepared_;
    lock.unlock();
    prepare_one(query);
    lock.lock();
    const bool last = --preparing_ == 0 && waiting_.empty() && flushed_;
    if (!last) continue;
    lock.unlock();
    served_->flush();
    lock.lock();
  }
}

void PipelineServer::prepare_one(const Query& query) {
  Task task{.query = query, .begun = Trace::now_ns()};
  std::string fault;
  try {
    Span span("evaluation", "prepare");
    span.argument("query", query.id);
    span.argument("sample", query.sample);
    task.prepared = pipeline_.prepare(query.sample);
  } catch (const std::exception& error) {
    fault = error.what();
  } catch (...) {
    fault = "something that is no exception";
  }
  if (fault.empty()) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.emplace(query.id, std::move(task));
    }
    const Query prepared{.id = query.id, .sample = query.id};
    return served_->issue({&prepared, 1});
  }
  {
    const std::lock_guard lock(mutex_);
    --prepared_;
  }
  asked_.notify_one();
  fail(query, task.begun, fault);
}

/// The line's samples are the ids of tasks, and its answers are empty.
AnswerBatch PipelineServer::open_instance(int instance) {
  const auto share = std::make_shared<ThreadShare>(instance_threads_);
  const auto predictor = open_(instance);
  return [this, share, predictor](std::span<const std::int64_t> ids) {
    predict(*predictor, ids);
    return BatchAnswers(ids.size());
  };
}

void PipelineServer::predict(Predictor& predictor, std::span<const std::int64_t> ids) {
  Span whole("evaluation", "batch");
  whole.argument("samples", std::int64_t(ids.size()));
  std::vector<ValueMap> prepared;
  {
    const std::lock_guard lock(mutex_);
    for (const std::int64_t id : ids) prepared.push_back(std::move(tasks_.at(id).prepared));
    prepared_ -= ids.size();
  }
  asked_.notify_all();
  auto kept = std::make_shared<ValueMap>();
  {
    const Span span("evaluation", "predict");
    const ValueMap& outputs = predictor.predict(ModelPipeline::batch(prepared));
    expect_batch(outputs, std::int64_t(ids.size()));
    for (const auto& [name, value] : outputs) {
      (*kept)[name] = value.tensor().copy();  // the predictor reuses its own for the next batch
    }
  }
  SystemCounters::sample();
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    Task& task = tasks_.at(ids[i]);
    task.outputs = kept;
    task.row = std::int64_t(i);
    task.batch_span = Trace::current();
  }
}

void PipelineServer::hear(std::span<const QueryAnswer> predicted) {
  for (const QueryAnswer& one : predicted) {
    std::unique_lock lock(mutex_);
    Task task = std::move(tasks_.extract(one.id).mapped());
    task.batch = one.batch;
    if (one.status == Status::passed) {
      room_.wait(lock, [&] { return predicted_tasks_.size() < most_; });
      predicted_tasks_.push_back(std::move(task));
      lock.unlock();
      predicted_.notify_one();
      continue;
    }
    if (!task.prepared.empty()) --prepared_;
    lock.unlock();
    fail(task.query, task.begun, one.reason);
  }
}

void PipelineServer::answer() {
  std::unique_lock lock(mutex_);
  for (;;) {
    predicted_.wait(lock, [&] { return answered_ || !predicted_tasks_.empty(); });
    if (predicted_tasks_.empty()) return;
    const Task task = std::move(predicted_tasks_.front());
    predicted_tasks_.pop_front();
    lock.unlock();
    room_.notify_one();
    answer_one(task);
    lock.lock();
  }
}

void PipelineServer::answer_one(const Task& task) const {
  std::string text, fault;
  try {
    Span span("evaluation", "answer");
    span.argument("query", task.query.id);
    text = answer_text(pipeline_.answer(*task.outputs, task.row));
  } catch (const std::exception& error) {
    fault = error.what();
  } catch (...) {
    fault = "something that is no exception";
  }
  if (!fault.empty()) return fail(task.query, task.begun, fault);
  complete({{.id = task.query.id,
             .begun = task.begun,
             .batch = task.batch,
             .bytes = std::as_bytes(std::span(text))}});
  trace_request(task.query, task.begun, task.batch_span);
}

void PipelineServer::fail(const Query& query, std::int64_t begun, std::string_view reason) const {
  complete({{.id = query.id, .begun = begun, .status = Status::failed, .reason = reason}});
}

void trace_request(const Query& query, std::int64_t begun, std::uint64_t batch_span) {
  if (!Trace::takes("evaluation")) return;
  TraceRecord record;
  record.kind = TraceRecord::Kind::overlapping;
  record.level = "evaluation";
  record.name = "request";
  record.begin_ns = begun;
  record.end_ns = Trace::now_ns();
  record.arguments = {{"query", query.id},
                      {"sample", query.sample},
                      {"answered in", static_cast<std::int64_t>(batch_span)}};
  Trace::add(record);
}

}  // namespace d5::detail
