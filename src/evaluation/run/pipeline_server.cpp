// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/pipeline_server.hpp"

#include <algorithm>
#include <utility>

#include "core/thread_pool/new_thread.hpp"
#include "d5/core/machine/thread_share.hpp"
#include "d5/core/trace/trace.hpp"

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
  for (const Query& query : waiting_) {
    complete({{.id = query.id, .status = Status::failed, .reason = "it was closed"}});
  }
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
  AnsweredQuery task(query);
  task.prepare(pipeline_);
  if (task.item.fault.empty()) {
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
  complete({task.result()});
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
  std::vector<AnsweredQuery*> tasks;  // their places stay, whatever comes in beside them
  {
    const std::lock_guard lock(mutex_);
    for (const std::int64_t id : ids) tasks.push_back(&tasks_.at(id));
    prepared_ -= ids.size();
  }
  asked_.notify_all();
  AnsweredQuery::predict(pipeline_, predictor, tasks);
}

void PipelineServer::hear(std::span<const QueryAnswer> predicted) {
  for (const QueryAnswer& one : predicted) {
    std::unique_lock lock(mutex_);
    AnsweredQuery task = std::move(tasks_.extract(one.id).mapped());
    if (one.status == Status::passed) {
      room_.wait(lock, [&] { return predicted_tasks_.size() < most_; });
      predicted_tasks_.push_back(std::move(task));
      lock.unlock();
      predicted_.notify_one();
      continue;
    }
    if (one.begun == 0) --prepared_;  // no instance took it
    lock.unlock();
    task.item.fault = one.reason;
    task.batch = one.batch;
    complete({task.result()});
  }
}

void PipelineServer::answer() {
  std::unique_lock lock(mutex_);
  for (;;) {
    predicted_.wait(lock, [&] { return answered_ || !predicted_tasks_.empty(); });
    if (predicted_tasks_.empty()) return;
    AnsweredQuery task = std::move(predicted_tasks_.front());
    predicted_tasks_.pop_front();
    lock.unlock();
    room_.notify_one();
    task.answer(pipeline_);
    complete({task.result()});
    task.trace();
    lock.lock();
  }
}

}  // namespace d5::detail
