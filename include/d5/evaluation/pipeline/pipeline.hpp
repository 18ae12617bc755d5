// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/core/tensor/value.hpp"

namespace d5 {

/// One sample on its way through a pipeline.
struct PipelineItem {
  std::int64_t sample = 0;
  ValueMap fields = {};    ///< of the data set
  ValueMap inputs = {};    ///< of the network, {1, ...}
  ValueMap answer = {};    ///< the network's outputs of this sample, then what steps make of them
  std::string fault = {};  ///< why it has no answer; the stages that follow leave it alone

  /// Does `work`, unless there is a fault already. An exception becomes the fault.
  template <class Work>
  void attempt(const Work& work) {
    if (!fault.empty()) return;
    try {
      work();
    } catch (const std::exception& error) {
      fault = error.what();
    } catch (...) {
      fault = "something that is no exception";
    }
  }
};

/// What is done with each item, on threads of its own.
struct StreamStage {
  std::string name;
  int threads = 1;
  /// Called by several threads at once, each with another item. What it throws becomes the item's
  /// fault.
  std::function<void(PipelineItem&)> run;
};

struct PipelineOptions {
  std::int64_t batch = 1;  ///< items that are predicted together; the last batch may be smaller
  std::int64_t queue = 4;  ///< items that may wait before a stage; of predict a batch more
  Interrupt interrupt = {};
};

/// What a stage did in one run.
///
/// Units: seconds, summed over its threads.
struct StageReport {
  std::string name;
  int threads = 1;
  std::int64_t items = 0;
  double busy = 0;              ///< in the stage itself
  double waited_for_input = 0;  ///< for the stage before
  double waited_for_room = 0;   ///< for the stage behind
  double mean_depth = 0;        ///< items in its queue when one was taken
  std::int64_t deepest = 0;
};
struct PipelineReport {
  double seconds = 0;               ///< of the whole run
  std::vector<StageReport> stages;  ///< in their order, "predict" among them
  /// Seconds of the slowest stage, its work divided by its threads, over those of the run: how
  /// nearly the pipeline is as fast as that.
  [[nodiscard]] double overlap() const;
};
/// A row a stage.
[[nodiscard]] TextTable to_table(const PipelineReport& report, Format format);

/// Stages behind each other, each with a bounded queue before it, around the calls that predict:
/// these are made by the thread that calls `run`, so that what was opened there stays there.
///
/// The order is kept, and no result depends on the number of threads.
///
///     Pipeline pipeline({{"decode", 2, decode}}, predict, {{"top_k", 1, top_k}}, {.batch = 8});
///     const PipelineReport report = pipeline.run(samples, [&](PipelineItem& item) { ... });
class Pipeline {
 public:
  /// Answers a batch: gives `answer` of each item, whose `inputs` are there. What it throws is the
  /// fault of all of them.
  using Predict = std::function<void(std::span<PipelineItem*> batch)>;

  /// Throws: ValueError for a stage without threads, a batch or a queue below 1.
  Pipeline(std::vector<StreamStage> before, Predict predict, std::vector<StreamStage> after,
           PipelineOptions options = {});

  /// Sends the samples through. `on_answer` is called once an item, in their order, by a thread of
  /// the pipeline's; what it throws ends the run and is thrown here.
  /// Throws: Interrupted; Unsupported where the system makes no more threads.
  PipelineReport run(std::span<const std::int64_t> samples,
                     const std::function<void(PipelineItem&)>& on_answer);

 private:
  std::vector<StreamStage> before_, after_;
  Predict predict_;
  PipelineOptions options_;
};

}  // namespace d5
