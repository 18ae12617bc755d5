// SPDX-License-Identifier: Apache-2.0
#include "core/measuring/metric_runs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/measuring/share_of_peak.hpp"
#include "d5/core/measuring/rate.hpp"
#include "d5/core/tensor/device.hpp"

namespace d5::detail {

MetricRuns::Hung::Hung(const MetricRuns& metrics, const std::vector<EventList*>& lists)
    : lists_(lists) {
  for (const auto& metric : metrics.metrics_) {
    auto event = std::dynamic_pointer_cast<Event>(metric);
    if (!event) continue;
    for (auto* list : lists_) list->add(event);
    events_.push_back(std::move(event));
  }
}

MetricRuns::Hung::~Hung() {
  for (const auto& event : events_) {
    for (auto* list : lists_) list->remove(event.get());
  }
}

void MetricRuns::add(std::shared_ptr<Metric> metric) {
  if (!metric) throw ValueError("measure: a metric is null");
  if (metric->used_) {
    throw ValueError(
        fmt::format("metric '{}' has measured already, and would mix its samples; make a new one",
                    printable(metric->name())));
  }
  metric->used_ = true;
  metrics_.push_back(std::move(metric));
}

void MetricRuns::begin(int repetitions) {
  begun_ = true;
  for (const auto& metric : metrics_) metric->begin(repetitions);
}

void MetricRuns::end(double seconds) {
  std::for_each(metrics_.rbegin(), metrics_.rend(), [](const auto& metric) { metric->end(); });
  for (const auto& metric : metrics_) metric->sample(seconds);
}

int MetricRuns::reruns(int as_asked) const {
  int most = 0;
  for (const auto& metric : metrics_) {
    most = std::max(most, metric->reruns() == Metric::kAsAsked ? as_asked : metric->reruns());
  }
  return most;
}

namespace {

std::vector<std::shared_ptr<Metric>> rates(const Subject& subject) {
  const Work& work = subject.work;
  std::vector<std::shared_ptr<Metric>> result;
  const auto add = [&](const char* name, const char* unit, double amount) {
    if (amount > 0) result.push_back(std::make_shared<Rate>(name, unit, amount));
  };
  add("flop_rate", "flop", work.flop);
  add("byte_rate", "byte", work.bytes);
  add("sample_rate", "sample", work.samples);
  const bool on_host = subject.record.device == to_string(Device{});
  const MachinePeak peak = on_host && work.bytes > 0 ? machine_peak() : MachinePeak{};
  if (ShareOfPeak::is_known(work, peak))
    result.push_back(std::make_shared<ShareOfPeak>(work, peak));
  return result;
}

/// The planned memory, known before the subject runs.
class PredictedMemory final : public Metric {
 public:
  explicit PredictedMemory(double bytes) : bytes_(bytes) {}
  [[nodiscard]] std::string name() const override { return "predicted_memory"; }
  [[nodiscard]] std::string unit() const override { return "byte"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::bytes; }
  [[nodiscard]] Statistic statistic() const override { return {.of = Statistic::Of::single}; }
  void summarise(Measurement& result) const override { result.samples = {bytes_}; }

 private:
  double bytes_;
};

/// Metrics derived from a subject's work that accompany a metric of this name.
std::vector<std::shared_ptr<Metric>> companions(const std::string& metric, const Subject& subject) {
  if (metric == "time") return rates(subject);
  if (metric != "peak_memory" || subject.work.memory <= 0) return {};
  return {std::make_shared<PredictedMemory>(subject.work.memory)};
}

}  // namespace

SubjectMetrics make_metrics(const Subject& subject, const std::vector<MetricChoice>& choices) {
  SubjectMetrics result;
  result.groups.resize(1);  // metrics that measure from outside
  const auto add = [&](const std::shared_ptr<Metric>& metric) {
    const bool is_event = std::dynamic_pointer_cast<Event>(metric) != nullptr;
    const bool apart = is_event && subject.life == Subject::Life::repeatable;
    const std::size_t group = apart ? result.groups.size() : 0;
    if (apart) result.groups.emplace_back();
    result.groups[group].add(metric);
    result.order.push_back({group, result.groups[group].metrics().size() - 1});
  };
  for (const auto& choice : choices) {
    add(choice.make());
    for (const auto& companion : companions(choice.name(), subject)) add(companion);
  }
  return result;
}

}  // namespace d5::detail
