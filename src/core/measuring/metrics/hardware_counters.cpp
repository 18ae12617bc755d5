// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>
#include <vector>

#include "core/machine/thread_counters.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5 {
namespace {

using detail::ProcessorEvent;
using detail::ThreadCounters;

struct Row {
  const char* name;
  const char* summary;
  ProcessorEvent event;
};
constexpr std::array kRows{
    Row{"instructions", "retired instructions of one call (perf_event_open)",
        ProcessorEvent::instructions},
    Row{"cycles", "processor cycles of one call, summed over threads (perf_event_open)",
        ProcessorEvent::cycles},
    Row{"cache_misses", "last-level cache misses of one call (perf_event_open)",
        ProcessorEvent::cache_misses},
    Row{"branch_misses", "mispredicted branches of one call (perf_event_open)",
        ProcessorEvent::branch_misses},
};

/// Hardware events in one call, in user space, over all threads that the process had at its first
/// run, and threads started by these.
class HardwareCounter final : public Metric {
 public:
  explicit HardwareCounter(const Row& row) : row_(row) {}

  [[nodiscard]] std::string name() const override { return row_.name; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::count; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::sum; }
  [[nodiscard]] int reruns() const override { return kAsAsked; }
  void begin(int repetitions) override {
    repetitions_ = repetitions;
    if (!counters_) counters_ = std::make_unique<ThreadCounters>(row_.event);
    begin_ = counters_->count();
  }
  void end() override { samples_.push_back((counters_->count() - begin_) / repetitions_); }
  void summarise(Measurement& result) const override {
    if (counters_ && counters_->absence().empty()) {
      result.samples = samples_;
      return;
    }
    result.status = Status::unsupported;
    result.reason = counters_ ? counters_->absence() : "nothing ran";
  }

 private:
  const Row& row_;
  std::unique_ptr<ThreadCounters> counters_;
  int repetitions_ = 1;
  double begin_ = 0;
  std::vector<double> samples_;
};

}  // namespace

namespace metric {
void register_hardware_counters(Registry<MetricEntry>& registry) {
  for (const Row& row : kRows) {
    registry.add(row.name, MetricEntry(row.summary,
                                       [&row] { return std::make_shared<HardwareCounter>(row); }));
  }
}
}  // namespace metric

}  // namespace d5
