// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "d5/core/measuring/measure.hpp"

namespace d5::detail {

/// Metrics that share the runs of a subject.
class MetricRuns {
 public:
  /// Adds metrics that are events to the lists while it lives.
  class Hung {
   public:
    Hung(const MetricRuns& metrics, const std::vector<EventList*>& lists);
    ~Hung();
    Hung(const Hung&) = delete;
    Hung& operator=(const Hung&) = delete;

   private:
    std::vector<std::shared_ptr<Event>> events_;
    const std::vector<EventList*>& lists_;
  };

  /// Throws: ValueError for a metric that is null or was used before.
  void add(std::shared_ptr<Metric> metric);
  [[nodiscard]] Hung hang_up(const std::vector<EventList*>& lists) const { return {*this, lists}; }
  void begin(int repetitions);
  /// `seconds` is the time of one call.
  void end(double seconds);

  [[nodiscard]] const std::vector<std::shared_ptr<Metric>>& metrics() const { return metrics_; }
  /// The number of runs they want; `as_asked` is the number in the options.
  [[nodiscard]] int reruns(int as_asked) const;
  /// Whether a run has begun.
  [[nodiscard]] bool begun() const { return begun_; }

 private:
  std::vector<std::shared_ptr<Metric>> metrics_;
  bool begun_ = false;
};

/// The metrics of a subject, grouped by shared runs, and the order of their records.
struct SubjectMetrics {
  std::vector<MetricRuns> groups;
  struct Place {
    std::size_t group, metric;
  };
  std::vector<Place> order;
};
[[nodiscard]] SubjectMetrics make_metrics(const Subject& subject,
                                          const std::vector<MetricChoice>& choices);

}  // namespace d5::detail
