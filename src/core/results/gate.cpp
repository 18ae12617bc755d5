// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/gate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/results/record_estimate.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

using Answer = GateFinding::Answer;

bool is_cost(const Measurement& m) {
  return m.quantity == Quantity::time || m.quantity == Quantity::energy ||
         m.quantity == Quantity::bytes || m.quantity == Quantity::count;
}

bool is_judged(const ResultPair& pair) {
  if (pair.a.direction == Direction::neither) return false;
  return is_cost(pair.a) || pair.has_interval();
}

std::string judged_name(const Measurement& m) {
  return fmt::format("{} {} {}", printable(m.subject), printable(m.framework), printable(m.metric));
}

/// `worse` is the interval of the factor by which B is worse than A, from this number of samples.
void judge_interval(GateFinding& finding, const Interval& worse, double limit,
                    std::size_t samples) {
  if (!(worse.low <= worse.high)) {
    finding.answer = Answer::undecided;
    finding.reason = fmt::format(
        "too few samples for an interval: {}; take 30 or more, or for a run that is timed once, "
        "judge a metric with many samples ({})",
        samples, option_word("only", "batch_time"));
  } else if (worse.low > limit) {
    finding.answer = Answer::broken;
    finding.reason =
        fmt::format("certainly above {}: [{:.3f}, {:.3f}]", limit, worse.low, worse.high);
  } else if (worse.high > limit) {
    finding.answer = Answer::undecided;
    finding.reason = fmt::format("{} lies within the interval [{:.3f}, {:.3f}]; take more samples",
                                 limit, worse.low, worse.high);
  }
}

GateFinding judge_pair(const ResultPair& pair, double limit) {
  GateFinding finding{.subject = judged_name(pair.b), .metric = pair.b.metric};
  for (const auto& [name, part] : {std::pair{"A", &pair.a}, std::pair{"B", &pair.b}}) {
    if (part->status != Status::mistrusted) continue;
    finding.answer = Answer::undecided;
    finding.reason += fmt::format("{}{} is mistrusted: {}", finding.reason.empty() ? "" : "; ",
                                  name, printable_message(part->reason));
  }
  if (finding.answer == Answer::undecided) return finding;
  const bool lower = pair.a.direction == Direction::lower_is_better;
  judge_interval(finding,
                 lower ? pair.interval : Interval{1 / pair.interval.high, 1 / pair.interval.low},
                 limit, std::min(pair.a.samples.size(), pair.b.samples.size()));
  return finding;
}

/// A ratio also grows if its base became faster, so beside the times that it is of it is left out.
enum class Ratios { left_out, alone };

std::vector<GateFinding> judge_all(const ResultMatch& match, double limit, Ratios ratios) {
  const auto belongs = [&](const Measurement& m) {
    return (m.quantity == Quantity::ratio) == (ratios == Ratios::alone);
  };
  std::vector<GateFinding> findings;
  for (const auto& pair : match.pairs) {
    if (belongs(pair.a) && is_judged(pair)) findings.push_back(judge_pair(pair, limit));
  }
  for (const auto& [missing, reason] : match.missing) {
    if (!belongs(missing) || !(is_cost(missing) || ratios == Ratios::alone)) continue;
    findings.push_back({Answer::undecided, judged_name(missing), reason, missing.metric});
  }
  return findings;
}

/// The gate's finding for a try; also marks the record.
GateFinding judge_try(std::vector<Measurement>& records, double limit, double confidence) {
  const auto ratio = std::ranges::find(records, Quantity::ratio, &Measurement::quantity);
  if (ratio == records.end()) return {Answer::undecided, "A and B", "not both have a time"};
  GateFinding finding = judge(*ratio, limit, confidence);
  if (ratio->status != Status::passed) return finding;
  if (finding.answer == Answer::broken) {
    ratio->status = Status::failed;
    ratio->reason = finding.reason;
  } else if (finding.answer == Answer::undecided) {
    mistrust(*ratio, finding.reason);
  }
  return finding;
}

}  // namespace

GateFinding judge(const Measurement& ratio, double limit, double confidence) {
  GateFinding finding{.subject = judged_name(ratio), .metric = ratio.metric};
  if (ratio.status != Status::passed) {
    finding.answer = Answer::undecided;
    finding.reason = fmt::format("{}: {}", name_of(ratio.status), printable_message(ratio.reason));
    return finding;
  }
  judge_interval(finding, detail::estimate_at(ratio, confidence).interval, limit,
                 ratio.samples.size());
  return finding;
}

std::vector<GateFinding> judge(const ResultMatch& match, double limit) {
  auto findings = judge_all(match, limit, Ratios::left_out);
  if (findings.empty()) findings = judge_all(match, limit, Ratios::alone);
  if (findings.empty()) {
    findings.push_back({Answer::undecided, "nothing was judged",
                        "A and B have no common time or other cost, and nothing with an interval"});
  }
  return findings;
}

GatedRecords measure_until_decided(
    const std::function<std::vector<Measurement>(int samples)>& measure, int samples,
    const GateOptions& options) {
  const double confidence = 1 - 0.05 / (options.retries + 1);
  GatedRecords result{.records = measure(samples), .finding = {}};
  result.finding = judge_try(result.records, options.limit, confidence);
  for (int retry = 1; retry <= options.retries; ++retry) {
    if (result.finding.answer != Answer::undecided || options.interrupt.due()) break;
    samples *= 2;
    if (options.before_retry) options.before_retry(result.finding, retry, samples);
    result.records = measure(samples);
    result.finding = judge_try(result.records, options.limit, confidence);
  }
  return result;
}

}  // namespace d5
