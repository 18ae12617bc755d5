// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include "d5/core/measurement.hpp"
#include "d5/core/metric.hpp"

namespace d5 {
namespace {

/// Page faults of one call, summed over all threads of the process, whether or not a page had to
/// come from disk. A subject whose memory is all there has none; many mean that it asks the system
/// for memory and gives it back in each call.
class PageFaults final : public Metric {
 public:
  [[nodiscard]] std::string name() const override { return "page_faults"; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::count; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::sum; }
  [[nodiscard]] int reruns() const override { return kAsAsked; }
  void begin(int repetitions) override {
    repetitions_ = repetitions;
    begin_ = now();
  }
  void end() override { samples_.push_back(double(now() - begin_) / repetitions_); }
  void summarise(Measurement& result) const override { result.samples = samples_; }

 private:
  static long now() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
  }
  int repetitions_ = 1;
  long begin_ = 0;
  std::vector<double> samples_;
};

}  // namespace

namespace metric {
void register_page_faults(Registry<MetricEntry>& registry) {
  registry.add("page_faults",
               MetricEntry::of<PageFaults>("page faults of one call, all threads together"));
}
}  // namespace metric

}  // namespace d5
