// SPDX-License-Identifier: Apache-2.0
#include "apps/comparison_records.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/statistics.hpp"

namespace d5::app {

void describe(Measurement& record, const Measurement& common) {
  record.subject = common.subject;
  record.command = common.command;
  record.level = common.level;
  record.framework = common.framework;
  record.framework_version = common.framework_version;
  record.device = common.device;
  for (const auto& [name, value] : common.conditions) record.conditions[name] = value;
}

Measurement ratio_record(const Measurement& subject, const Measurement& base) {
  Measurement ratio = subject;
  const bool same = base.framework == subject.framework;
  ratio.metric = fmt::format("time ratio to {}", same ? base.subject : base.framework);
  ratio.unit = "1";
  ratio.samples.clear();
  for (const auto* part : {&subject, &base}) {
    if (part->status == Status::failed || part->status == Status::unsupported) {
      ratio.status = Status::skipped;
      ratio.reason = fmt::format("{} has no time to compare with",
                                 part->framework.empty() ? part->subject : part->framework);
      return ratio;
    }
    if (part->status != Status::passed) {
      ratio.status = part->status;
      ratio.reason = part->reason;
    }
  }
  const std::size_t pairs = std::min(subject.samples.size(), base.samples.size());
  for (std::size_t i = 0; i < pairs; ++i) {
    ratio.samples.push_back(subject.samples[i] / base.samples[i]);
  }
  ratio.conditions["rank test p"] = fmt::format("{:.2g}", rank_test(subject.samples, base.samples));
  return ratio;
}

Measurement rate_record(const Measurement& time, const std::string& metric, const std::string& unit,
                        double amount) {
  Measurement rate = time;
  rate.metric = metric;
  rate.unit = unit + "/s";
  rate.direction = Direction::higher_is_better;
  for (double& sample : rate.samples) sample = amount / sample;
  return rate;
}

}  // namespace d5::app
