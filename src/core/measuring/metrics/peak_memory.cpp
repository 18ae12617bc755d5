// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <limits>

#include "d5/core/measuring/metric.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5 {
namespace {

/// Peak resident memory of the process during a run, from any allocator. Linux counts it (VmHWM)
/// and resets the count when 5 is written to clear_refs.
class PeakMemory final : public Metric {
 public:
  [[nodiscard]] std::string name() const override { return "peak_memory"; }
  [[nodiscard]] std::string unit() const override { return "byte"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::bytes; }
  [[nodiscard]] Statistic statistic() const override { return {.of = Statistic::Of::maximum}; }
  void begin(int) override {
    std::ofstream reset("/proc/self/clear_refs");
    supported_ = supported_ && bool(reset << 5 << std::flush);
  }
  void end() override { samples_.push_back(peak_resident_bytes()); }
  void summarise(Measurement& result) const override {
    if (supported_ && (samples_.empty() || samples_.back() > 0)) {
      result.samples = samples_;
      return;
    }
    result.status = Status::unsupported;
    result.reason = "this system does not count peak memory (/proc/self/clear_refs, VmHWM)";
  }

 private:
  static double peak_resident_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
      double kibibytes = 0;
      if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
      status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return 0;
  }
  bool supported_ = true;
  std::vector<double> samples_;
};

}  // namespace

namespace metric {
void register_peak_memory(Registry<MetricEntry>& registry) {
  registry.add("peak_memory",
               MetricEntry::of<PeakMemory>("peak resident memory of the process during a run"));
}
}  // namespace metric

}  // namespace d5
