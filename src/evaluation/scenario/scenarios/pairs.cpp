// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "core/results/record_estimate.hpp"
#include "core/statistics/bootstrap.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/ratio.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/evaluation/load/query_summary.hpp"
#include "evaluation/load/load_record.hpp"
#include "evaluation/load/load_run.hpp"
#include "evaluation/load/nanoseconds.hpp"
#include "evaluation/scenario/paired_system.hpp"

namespace d5::scenario {
namespace {

using detail::PairedSystem;

struct PairsOptions {
  double think = 0;
  void declare(OptionList& options) {
    options.add("think", think, "time between an answer and the next query, in s", {.least = 0});
  }
};

/// One side's answers to the pairs that both answered.
struct SideAnswers {
  std::vector<double> latency, ttft, tpot;  ///< s; NaN where it is undefined
  std::vector<std::vector<TokenGap>> gaps;  ///< a list an answer
};

/// Results of one query each.
std::vector<ScenarioResult> single_queries(const ScenarioResult& result) {
  std::vector<ScenarioResult> singles;
  auto piece = result.pieces.begin();
  for (const QueryRecord& query : result.queries) {
    ScenarioResult& one = singles.emplace_back();
    one.queries = {query};
    one.latency_from = result.latency_from;
    for (; piece != result.pieces.end() && std::int64_t(piece->query) == query.id; ++piece) {
      one.pieces.push_back(*piece);
    }
  }
  return singles;
}

double only(const std::vector<double>& values) {
  return values.size() == 1 ? values.front() : std::nan("");
}

void add_answer(const ScenarioResult& one, SideAnswers& side) {
  const TokenTimes times = token_times(one);
  side.latency.push_back(only(query_latencies(one)));
  side.ttft.push_back(only(times.ttft));
  side.tpot.push_back(only(times.tpot));
  side.gaps.push_back(token_gaps(one));
}

/// The gaps of all answers, sorted, each with the number of its answer.
std::vector<TokenGap> pooled(const std::vector<std::vector<TokenGap>>& answers) {
  std::vector<TokenGap> all;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    for (TokenGap gap : answers[i]) {
      gap.answer = i;
      all.push_back(gap);
    }
  }
  std::ranges::sort(all, {}, &TokenGap::seconds);
  return all;
}

/// The median over tokens, with each answer as often as `times` says.
double median_gap(const std::vector<TokenGap>& gaps, const std::vector<std::int64_t>& times) {
  std::int64_t all = 0, within = 0;
  for (const TokenGap& gap : gaps) all += times[gap.answer] * gap.tokens;
  for (const TokenGap& gap : gaps) {
    within += times[gap.answer] * gap.tokens;
    if (within > 0 && 2 * within >= all) return gap.seconds;
  }
  return std::nan("");
}

/// Asks a base and a subject for the same samples, one after the other.
class Pairs final : public detail::PairedScenario {
 public:
  using Options = PairsOptions;
  explicit Pairs(const Options& options) : options_(options) {}

  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    auto* const pair = dynamic_cast<PairedSystem*>(&system);
    if (!pair) {
      throw Unsupported(fmt::format(
          "scenario pairs: it asks two systems in turns, {} is one; evaluate in two frameworks, {}",
          printable(system.name()), option_word("framework", "A,B")));
    }
    ScenarioOptions both = options;
    both.mode = ScenarioOptions::Mode::performance;
    both.least_queries = 2 * options.least_queries;
    both.most_queries = 2 * options.most_queries;
    constexpr std::int64_t kFewest = 1000;  // a run of a given time begins again after them
    const std::int64_t drawn = options.least_seconds > 0 ? std::max(kFewest, options.least_queries)
                                                         : options.least_queries;
    pair->draw(std::max<std::int64_t>(drawn, 1), options.seed);
    ScenarioResult result = ask(*pair, both);
    result.measurements = ratios_of(*pair, result);
    for (Measurement& record : result.measurements) {
      record.conditions.insert(result.conditions.begin(), result.conditions.end());
      if (record.status != Status::passed || result.status == Status::passed) continue;
      record.status = result.status;
      record.reason = result.reason;
    }
    return result;
  }
  [[nodiscard]] bool overlaps() const override { return false; }
  [[nodiscard]] bool batches() const override { return false; }

 private:
  /// The order within each pair is drawn: what drifts or follows an answer meets both sides.
  ScenarioResult ask(PairedSystem& pair, const ScenarioOptions& options) const {
    detail::LoadRun run(
        pair, options,
        {.latency_from = LatencyFrom::issue, .settles = false, .percentile = 0.5, .chooses = true});
    RandomStream order(options.seed, stream_of("pairs"));
    const std::int64_t think = detail::nanoseconds(options_.think), drawn = pair.samples() / 2;
    bool is_answered = true;
    for (std::int64_t i = 0; is_answered && run.goes_on(run.now()); ++i) {
      const auto first = std::int64_t(order.below(2));
      for (const std::int64_t side : {first, 1 - first}) {
        is_answered = is_answered && run.wait_for(0) && run.wait_for_turn(run.now() + think);
        if (is_answered) run.ask_for(2 * (i % drawn) + side, run.now());
      }
    }
    return run.end();
  }

  static std::vector<Measurement> ratios_of(const PairedSystem& pair,
                                            const ScenarioResult& result) {
    std::array<SideAnswers, 2> sides;
    const std::vector<ScenarioResult> singles = single_queries(result);
    const auto is_answered = [](const ScenarioResult& one) {
      return one.queries[0].ended > 0 && one.queries[0].status == Status::passed;
    };
    for (std::size_t i = 0; i + 1 < singles.size(); i += 2) {
      if (!is_answered(singles[i]) || !is_answered(singles[i + 1])) continue;
      for (const ScenarioResult* one : {&singles[i], &singles[i + 1]}) {
        add_answer(*one, sides[std::size_t(one->queries[0].sample % 2)]);
      }
    }
    std::vector<Measurement> records;
    const auto add = [&](const char* metric, std::vector<double> SideAnswers::* times) {
      Measurement base = detail::record_of(metric, "s", Quantity::time, {}, {});
      Measurement subject = base;
      const auto& of_base = sides[PairedSystem::kBase].*times;
      const auto& of_subject = sides[PairedSystem::kSubject].*times;
      for (std::size_t i = 0; i < of_base.size(); ++i) {
        if (std::isnan(of_base[i]) || std::isnan(of_subject[i])) continue;
        base.samples.push_back(of_base[i]);
        subject.samples.push_back(of_subject[i]);
      }
      if (base.samples.empty() && metric != std::string_view("latency")) return;
      records.push_back(ratio_record(subject, base,
                                     {.subject = pair.name_of(PairedSystem::kSubject),
                                      .base = pair.name_of(PairedSystem::kBase)}));
      add_medians(base, subject, records.back());
    };
    add("latency", &SideAnswers::latency);
    if (result.pieces.empty()) return records;
    add("ttft", &SideAnswers::ttft);
    add_gaps(pair, sides, records);
    add("tpot", &SideAnswers::tpot);
    return records;
  }

  static void add_medians(const Measurement& base, const Measurement& subject, Measurement& ratio) {
    if (base.samples.empty()) return;
    ratio.conditions["pairs"] = finding(std::int64_t(base.samples.size()));
    ratio.conditions["base median"] = finding(estimate(base).value, "s");
    ratio.conditions["median"] = finding(estimate(subject).value, "s");
  }

  /// The ratio of the medians over tokens. Pairs are drawn again for its interval: the gaps of an
  /// answer depend on each other.
  static void add_gaps(const PairedSystem& pair, const std::array<SideAnswers, 2>& sides,
                       std::vector<Measurement>& records) {
    const std::vector<TokenGap> base = pooled(sides[PairedSystem::kBase].gaps);
    const std::vector<TokenGap> subject = pooled(sides[PairedSystem::kSubject].gaps);
    if (base.empty() || subject.empty()) return;
    const std::size_t pairs = sides[PairedSystem::kBase].gaps.size();
    const auto ratio_of = [&](std::span<const std::size_t> drawn) {
      std::vector<std::int64_t> times(pairs);
      for (const std::size_t one : drawn) ++times[one];
      return median_gap(subject, times) / median_gap(base, times);
    };
    std::vector<std::size_t> each(pairs);
    std::iota(each.begin(), each.end(), std::size_t{0});
    Measurement ratio = detail::record_of("itl_ratio", "1", Quantity::ratio, {ratio_of(each)},
                                          {.of = Statistic::Of::single});
    ratio.conditions["base"] = identity(pair.name_of(PairedSystem::kBase));
    ratio.conditions["pairs"] = finding(std::int64_t(pairs));
    const std::vector<std::int64_t> once(pairs, 1);
    ratio.conditions["base median"] = finding(median_gap(base, once), "s");
    ratio.conditions["median"] = finding(median_gap(subject, once), "s");
    detail::set_interval(ratio, detail::bootstrap_interval(pairs, ratio_of));
    records.push_back(std::move(ratio));
  }

  Options options_;
};

}  // namespace

void register_pairs(Registry<ScenarioEntry>& registry) {
  registry.add("pairs",
               ScenarioEntry::of<Pairs>("each query to two frameworks, one after "
                                        "the other in drawn order; ratios of their times"));
}

}  // namespace d5::scenario
