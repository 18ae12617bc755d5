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
  ValueMap fields = {};    ///< fields of the data set
  ValueMap inputs = {};    ///< inputs of the network in a call of its own, mostly {1, ...}
  ValueMap answer = {};    ///< the network's outputs for this sample, then the results of steps
  std::string fault = {};  ///< reason for a missing answer; later stages skip the item

  /// Calls `work`, unless there is a fault already. An exception becomes the fault.
  template <class Work>
  void attempt(const Work& work) {
    if (!fault.empty()) return;
    try {
      work();
    } catch (const std::exception& error) {
      fault = error.what();
    } catch (...) {
      fault = "an exception of unknown type";
    }
  }
};

/// A stage that processes each item on its own threads.
struct StreamStage {
  std::string name;
  int threads = 1;
  /// Called by several threads at once, each with a different item. An exception becomes the item's
  /// fault.
  std::function<void(PipelineItem&)> run;
};

struct PipelineOptions {
  std::int64_t batch = 1;  ///< items per batch; the last batch may be smaller
  std::int64_t queue = 4;  ///< limit of items in a stage's queue; predict's holds a batch more
  Interrupt interrupt = {};
};

/// Statistics of one stage in one run.
///
/// Units: seconds, summed over its threads.
struct StageReport {
  std::string name;
  int threads = 1;
  std::int64_t items = 0;
  double busy = 0;              ///< in the stage itself
  double waited_for_input = 0;  ///< wait for the previous stage
  double waited_for_room = 0;   ///< wait for the next stage
  double mean_depth = 0;        ///< mean number of items in its queue when one was taken
  std::int64_t deepest = 0;
};
struct PipelineReport {
  double seconds = 0;               ///< time of the whole run
  std::vector<StageReport> stages;  ///< in order, including "predict"
  /// Busy time per thread of the slowest stage, divided by the time of the run: 1 if the pipeline
  /// is as fast as its slowest stage.
  [[nodiscard]] double overlap() const;
};
/// A row per stage.
[[nodiscard]] TextTable to_table(const PipelineReport& report, Format format);

/// A sequence of stages before and after prediction, each with a bounded queue. The thread that
/// calls `run` predicts, so that a predictor stays on the thread that opened it.
///
/// The order of items is kept, and no result depends on the number of threads.
///
///     Pipeline pipeline({{"decode", 2, decode}}, predict, {{"top_k", 1, top_k}}, {.batch = 8});
///     const PipelineReport report = pipeline.run(samples, [&](PipelineItem& item) { ... });
class Pipeline {
 public:
  /// Predicts a batch: sets `answer` of each item from its `inputs`. An exception becomes the fault
  /// of all items.
  using Predict = std::function<void(std::span<PipelineItem*> batch)>;

  /// Throws: ValueError for a stage without threads, a batch or a queue below 1.
  Pipeline(std::vector<StreamStage> before, Predict predict, std::vector<StreamStage> after,
           PipelineOptions options = {});

  /// Processes the samples. A thread of the pipeline calls `on_answer` once per item, in order; its
  /// exceptions end the run and are rethrown here.
  /// Throws: Interrupted; Unsupported if the system cannot create the threads.
  PipelineReport run(std::span<const std::int64_t> samples,
                     const std::function<void(PipelineItem&)>& on_answer);

 private:
  std::vector<StreamStage> before_, after_;
  Predict predict_;
  PipelineOptions options_;
};

}  // namespace d5
