// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "d5/core/measurement.hpp"
#include "d5/core/metric.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

/// Energy of one call: all processor packages, everything that ran on them meanwhile, from the RAPL
/// counters as Linux shows them (powercap). They tick about once a millisecond.
class Energy final : public Metric {
 public:
  Energy() {
    std::error_code ignored;
    for (const auto& zone : fs::directory_iterator("/sys/class/powercap", ignored)) {
      // "intel-rapl:0" is a package, "intel-rapl:0:1" a part of one.
      const std::string name = zone.path().filename();
      if (name.starts_with("intel-rapl:") && name.find(':') == name.rfind(':')) {
        zones_.push_back({zone.path() / "energy_uj", read(zone.path() / "max_energy_range_uj")});
      }
    }
  }
  [[nodiscard]] std::string name() const override { return "energy"; }
  [[nodiscard]] std::string unit() const override { return "J"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::energy; }
  [[nodiscard]] int reruns() const override { return kAsAsked; }
  void begin(int repetitions) override {
    repetitions_ = repetitions;
    for (auto& zone : zones_) zone.begin = read(zone.counter);
  }
  void end() override {
    double joules = 0;
    for (const auto& zone : zones_) {
      const double now = read(zone.counter);
      readable_ = readable_ && now >= 0 && zone.begin >= 0;
      const double difference = now - zone.begin;
      joules += 1e-6 * (difference < 0 ? difference + zone.range : difference);
    }
    samples_.push_back(joules / repetitions_);
  }
  void sample(double seconds) override { shortest_ = std::min(shortest_, seconds * repetitions_); }
  void summarise(Measurement& result) const override {
    if (zones_.empty() || !readable_) {
      result.status = Status::unsupported;
      result.reason = zones_.empty() ? "this machine shows no RAPL counters (/sys/class/powercap)"
                                     : "the RAPL counters may not be read by this user";
      return;
    }
    result.samples = samples_;
    if (shortest_ < 0.1)
      mistrust(result, "a sample is too short for counters that tick each millisecond");
  }

 private:
  struct Zone {
    fs::path counter;
    double range;
    double begin = 0;
  };
  /// -1 where it cannot be read.
  static double read(const fs::path& path) {
    double value = -1;
    return std::ifstream(path) >> value ? value : -1;
  }
  std::vector<Zone> zones_;
  int repetitions_ = 1;
  bool readable_ = true;
  double shortest_ = 1e300;
  std::vector<double> samples_;
};

}  // namespace

namespace metric {
void register_energy(Registry<MetricEntry>& registry) {
  registry.add("energy",
               MetricEntry::of<Energy>("energy of the processor packages for one call (RAPL)"));
}
}  // namespace metric

}  // namespace d5
