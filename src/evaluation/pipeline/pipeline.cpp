// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/pipeline/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include "core/thread_pool/new_thread.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/trace/trace.hpp"
#include "evaluation/pipeline/ordered_queue.hpp"

namespace d5 {
namespace {

using Queue = detail::OrderedQueue<PipelineItem>;

/// One run. Queue q precedes place q; places are the stages, including predict, and the listener.
class PipelineRun {
 public:
  PipelineRun(const std::vector<StreamStage>& before, const Pipeline::Predict& predict,
              const std::vector<StreamStage>& after, const PipelineOptions& options,
              std::span<const std::int64_t> samples)
      : before_(before),
        predict_(predict),
        after_(after),
        options_(options),
        samples_(samples),
        places_(before.size() + 1 + after.size()) {
    const auto total = std::int64_t(samples.size());
    for (std::size_t q = 0; q <= places_; ++q) {
      const std::int64_t more = q == before.size() ? options.batch : 0;
      queues_.push_back(std::make_unique<Queue>(std::size_t(options.queue + more), total));
    }
    report_.stages.resize(places_);
    for (std::size_t s = 0; s < places_; ++s) {
      report_.stages[s].name = s == before.size() ? "predict" : stage(s).name;
      report_.stages[s].threads = s == before.size() ? 1 : stage(s).threads;
    }
  }

  PipelineReport go(const std::function<void(PipelineItem&)>& on_answer) {
    const double begin = now_seconds();
    {
      std::vector<std::jthread> threads;
      const auto begin_thread = [&](auto work) {
        threads.push_back(detail::new_thread<std::jthread>("pipeline", std::move(work)));
      };
      try {
        begin_thread([this] { feed(); });
        for (std::size_t s = 0; s < places_; ++s) {
          if (s == before_.size()) continue;
          for (int t = 0; t < stage(s).threads; ++t) begin_thread([this, s] { work(s); });
        }
        begin_thread([&] { deliver(on_answer); });
      } catch (...) {
        fail(std::current_exception());
      }
      predict();
    }
    report_.seconds = now_seconds() - begin;
    if (failure_) std::rethrow_exception(failure_);
    for (std::size_t s = 0; s < places_; ++s) {
      report_.stages[s].mean_depth = queues_[s]->mean_depth();
      report_.stages[s].deepest = queues_[s]->deepest();
    }
    return std::move(report_);
  }

 private:
  [[nodiscard]] const StreamStage& stage(std::size_t s) const {
    return s < before_.size() ? before_[s] : after_[s - before_.size() - 1];
  }

  void feed() {
    for (std::size_t i = 0; i < samples_.size() && !cancelled_; ++i) {
      queues_[0]->put(std::int64_t(i), {.sample = samples_[i]});
    }
  }

  void work(std::size_t s) {
    const StreamStage& own = stage(s);
    StageReport mine;
    while (auto taken = queues_[s]->take(mine.waited_for_input)) {
      auto& [number, item] = *taken;
      const double begin = now_seconds();
      item.attempt([&] {
        Span span("evaluation", own.name);
        span.argument("sample", item.sample);
        own.run(item);
      });
      mine.busy += now_seconds() - begin;
      ++mine.items;
      mine.waited_for_room += queues_[s + 1]->put(number, std::move(item));
    }
    add(s, mine);
  }

  void predict() {
    const std::size_t s = before_.size();
    StageReport mine;
    std::vector<std::pair<std::int64_t, PipelineItem>> batch;
    for (bool more = true; more;) {
      try {
        options_.interrupt.check("pipeline");
      } catch (...) {
        fail(std::current_exception());
      }
      batch.clear();
      while (more && std::int64_t(batch.size()) < options_.batch) {
        auto taken = queues_[s]->take(mine.waited_for_input);
        more = taken.has_value();
        if (more) batch.push_back(std::move(*taken));
      }
      std::vector<PipelineItem*> whole;
      for (auto& [number, item] : batch) {
        if (item.fault.empty()) whole.push_back(&item);
      }
      const double begin = now_seconds();
      if (!whole.empty()) predict_batch(whole);
      mine.busy += now_seconds() - begin;
      mine.items += std::int64_t(batch.size());
      for (auto& [number, item] : batch) {
        mine.waited_for_room += queues_[s + 1]->put(number, std::move(item));
      }
    }
    add(s, mine);
  }

  void predict_batch(std::span<PipelineItem*> batch) {
    try {
      Span span("evaluation", "predict");
      span.argument("batch", batch.size());
      span.argument("first sample", batch.front()->sample);
      predict_(batch);
    } catch (const Interrupted&) {
      fail(std::current_exception());
    } catch (const std::exception& error) {
      for (PipelineItem* item : batch) item->fault = error.what();
    }
  }

  void deliver(const std::function<void(PipelineItem&)>& on_answer) {
    double waited = 0;
    while (auto taken = queues_.back()->take(waited)) {
      try {
        on_answer(taken->second);
      } catch (...) {
        fail(std::current_exception());
      }
    }
  }

  /// The first failure ends the run.
  void fail(std::exception_ptr failure) {
    {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::move(failure);
    }
    cancelled_ = true;
    for (auto& queue : queues_) queue->cancel();
  }

  void add(std::size_t s, const StageReport& mine) {
    const std::lock_guard lock(mutex_);
    StageReport& all = report_.stages[s];
    all.items += mine.items;
    all.busy += mine.busy;
    all.waited_for_input += mine.waited_for_input;
    all.waited_for_room += mine.waited_for_room;
  }

  const std::vector<StreamStage>& before_;
  const Pipeline::Predict& predict_;
  const std::vector<StreamStage>& after_;
  const PipelineOptions& options_;
  std::span<const std::int64_t> samples_;
  std::size_t places_;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::mutex mutex_;  ///< guards the members below
  PipelineReport report_;
  std::exception_ptr failure_;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace

double PipelineReport::overlap() const {
  double slowest = 0;
  for (const StageReport& stage : stages) slowest = std::max(slowest, stage.busy / stage.threads);
  return seconds > 0 ? slowest / seconds : 0;
}

TextTable to_table(const PipelineReport& report, Format format) {
  TextTable table({"stage", "threads", "items", "busy", "waited for input", "waited for room",
                   "mean depth", "deepest"});
  const auto seconds = [&](double value) {
    return format == Format::table ? with_prefix(value, "s") : fmt::format("{}", value);
  };
  for (const StageReport& stage : report.stages) {
    table.add({stage.name, std::to_string(stage.threads), std::to_string(stage.items),
               seconds(stage.busy), seconds(stage.waited_for_input), seconds(stage.waited_for_room),
               fmt::format("{:.3g}", stage.mean_depth), std::to_string(stage.deepest)});
  }
  return table;
}

Pipeline::Pipeline(std::vector<StreamStage> before, Predict predict, std::vector<StreamStage> after,
                   PipelineOptions options)
    : before_(std::move(before)),
      after_(std::move(after)),
      predict_(std::move(predict)),
      options_(std::move(options)) {
  for (const auto* stages : {&before_, &after_}) {
    for (const StreamStage& stage : *stages) {
      if (stage.threads >= 1) continue;
      throw ValueError(fmt::format("pipeline: stage '{}' has {} threads, expected 1 or more",
                                   printable(stage.name), stage.threads));
    }
  }
  if (options_.batch < 1 || options_.queue < 1) {
    throw ValueError(fmt::format("pipeline: batch {} and queue {}, expected 1 or more",
                                 options_.batch, options_.queue));
  }
}

PipelineReport Pipeline::run(std::span<const std::int64_t> samples,
                             const std::function<void(PipelineItem&)>& on_answer) {
  return PipelineRun(before_, predict_, after_, options_, samples).go(on_answer);
}

}  // namespace d5
