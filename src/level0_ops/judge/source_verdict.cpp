// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/judge/source_verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "d5/core/errors/error.hpp"
#include "d5/core/results/ratio_summary.hpp"
#include "d5/core/statistics/geometric_mean.hpp"

namespace d5 {
namespace {

constexpr const char* kDash = "–";

/// Records of one source.
struct SourceRecords {
  std::vector<const Measurement*> times, ratios;  ///< ratios to every base
  [[nodiscard]] const Artefact& artefact() const { return times.front()->artefacts.front(); }
  [[nodiscard]] std::vector<std::string> bases() const {
    std::vector<std::string> names;
    for (const Measurement* ratio : ratios) {
      const std::string name = condition_of(*ratio, "base");
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    if (names.empty()) names.emplace_back();
    return names;
  }
};

bool is_judged(const Measurement& record) {
  return record.command.starts_with("d5 op judge") && record.artefacts.size() == 1;
}

std::vector<SourceRecords> sources_in(const std::vector<Measurement>& records) {
  std::vector<SourceRecords> sources;
  for (const Measurement& record : records) {
    if (!is_judged(record)) continue;
    auto place = std::ranges::find_if(sources, [&](const SourceRecords& source) {
      return source.artefact() == record.artefacts.front();
    });
    if (record.metric == "time") {
      if (place == sources.end()) place = sources.insert(place, SourceRecords{});
      place->times.push_back(&record);
    } else if (place != sources.end()) {
      place->ratios.push_back(&record);
    }
  }
  return sources;
}

std::string case_of(const Measurement& record) {
  return record.subject + " " + condition_of(record, "pass");
}
std::set<std::string> cases_of(const SourceRecords& source) {
  std::set<std::string> cases;
  for (const Measurement* time : source.times) cases.insert(case_of(*time));
  return cases;
}

bool is_right(const Measurement& time) {
  return (time.status == Status::passed || time.status == Status::mistrusted) &&
         condition_of(time, "answers") == "right" && !time.samples.empty();
}

/// A sample for each round: the geometric mean of all cases' ratios in it.
Measurement rounds_of(const std::vector<const Measurement*>& ratios) {
  Measurement rounds;
  std::size_t count = ratios.front()->samples.size();
  for (const Measurement* ratio : ratios) count = std::min(count, ratio->samples.size());
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (const Measurement* ratio : ratios) sum += std::log(ratio->samples[i]);
    rounds.samples.push_back(std::exp(sum / double(ratios.size())));
  }
  return rounds;
}

double times_floor(const SourceRecords& source) {
  std::vector<double> ratios;
  for (const Measurement* time : source.times) {
    ratios.push_back(estimate(*time).value / condition_number(*time, "floor").value_or(0));
  }
  return geometric_mean(ratios).value;  // NaN for an infinite one
}

SourceVerdict verdict_of(const SourceRecords& source, const std::string& base) {
  SourceVerdict verdict{.source = source.artefact().name,
                        .sha256 = source.artefact().sha256,
                        .cases = int(source.times.size()),
                        .base = base};
  for (const Measurement* time : source.times) {
    verdict.right_cases += is_right(*time) ? 1 : 0;
    verdict.failed_cases += time->status == Status::failed ? 1 : 0;
    if (time->reason.empty()) continue;
    verdict.reasons.push_back(fmt::format("{}: {}", case_of(*time), time->reason));
  }
  if (!verdict.right()) return verdict;
  verdict.times_floor = times_floor(source);
  std::vector<const Measurement*> ratios;
  for (const Measurement* ratio : source.ratios) {
    if (condition_of(*ratio, "base") != base) continue;
    if (!ratio->samples.empty())
      ratios.push_back(ratio);
    else
      verdict.reasons.push_back(fmt::format("{}: {}", case_of(*ratio), ratio->reason));
  }
  if (ratios.size() != source.times.size()) return verdict;
  const Estimate mean = estimate(rounds_of(ratios));
  verdict.ratio = mean.value;
  verdict.interval = mean.interval;
  return verdict;
}

std::string number(double value) {
  return std::isnan(value) ? kDash : fmt::format("{:.3f}", value);
}

}  // namespace

std::vector<SourceVerdict> verdicts_of(const std::vector<Measurement>& records) {
  std::vector<SourceVerdict> verdicts;
  const std::vector<SourceRecords> sources = sources_in(records);
  for (const SourceRecords& source : sources) {
    for (const std::string& base : source.bases()) {
      verdicts.push_back(verdict_of(source, base));
      if (cases_of(source) == cases_of(sources.front())) continue;
      verdicts.back().reasons.push_back(
          fmt::format("judged on other cases than {}", sources.front().artefact().name));
    }
  }
  return verdicts;
}

TextTable judge_board(const std::vector<Measurement>& records) {
  std::vector<SourceVerdict> verdicts = verdicts_of(records);
  if (verdicts.empty()) {
    throw ValueError(
        "no source was judged; give results that 'd5 op judge SOURCE --for CASES --out FILE' "
        "wrote");
  }
  std::ranges::stable_sort(verdicts, [](const SourceVerdict& a, const SourceVerdict& b) {
    if (a.right() != b.right()) return a.right();
    if (std::isnan(a.ratio) != std::isnan(b.ratio)) return std::isnan(b.ratio);
    return a.ratio < b.ratio;  // false for two unknown ones: as they came
  });
  using enum TextTable::Align;
  TextTable table({"source",
                   "verdict",
                   "right",
                   {"time ratio", right},
                   "95% interval",
                   "base",
                   {"times floor", right},
                   "reason"});
  for (const SourceVerdict& one : verdicts) {
    table.add({one.source, std::string(one.word()),
               fmt::format("{} of {}", one.right_cases, one.cases),
               number(one.ratio) + (std::isnan(one.ratio) || one.reasons.empty() ? "" : "*"),
               text_of_mean(one.interval), one.base, number(one.times_floor),
               one.reasons.empty() ? "" : one.reasons.front()});
  }
  table.drop_empty_columns();
  return table;
}

}  // namespace d5
