// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/measuring/metric.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5 {
namespace {

/// Tail latency: a quantile of the calls' times.
class Latency final : public Metric {
 public:
  Latency(std::string name, double quantile) : name_(std::move(name)), quantile_(quantile) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string unit() const override { return "s"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::time; }
  [[nodiscard]] Statistic statistic() const override { return {.quantile = quantile_}; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::maximum; }
  [[nodiscard]] int reruns() const override { return kAsAsked; }
  void begin(int repetitions) override { repetitions_ = std::max(repetitions_, repetitions); }
  void sample(double seconds) override { samples_.push_back(seconds); }
  void summarise(Measurement& result) const override {
    result.samples = samples_;
    if (samples_.empty()) return;
    const auto enough = std::size_t(1 / (1 - quantile_) + 0.5);  // one of them is slower
    if (samples_.size() < enough) {
      mistrust(result, fmt::format("{} samples, fewer than the {} that {} needs", samples_.size(),
                                   enough, to_string(statistic())));
    } else if (repetitions_ > 1) {
      mistrust(result, fmt::format("a sample is the mean of up to {} calls, which hides the slow "
                                   "ones among them",
                                   repetitions_));
    }
  }

 private:
  std::string name_;
  double quantile_;
  int repetitions_ = 1;
  std::vector<double> samples_;
};

}  // namespace

namespace metric {
void register_latency(Registry<MetricEntry>& registry) {
  const auto add = [&](const char* name, double quantile, const char* summary) {
    registry.add(name,
                 MetricEntry(summary, [=] { return std::make_shared<Latency>(name, quantile); }));
  };
  add("latency_p90", 0.9, "90th percentile of latency; needs 10 samples");
  add("latency_p99", 0.99, "99th percentile of latency; needs 100 samples");
  add("latency_p999", 0.999, "99.9th percentile of latency; needs 1,000 samples");
}
}  // namespace metric

}  // namespace d5
