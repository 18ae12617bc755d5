// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/profile/subject_comparison.hpp"

#include <fmt/format.h>

#include "core/report/fail_limit.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/level0_ops/bench/bench.hpp"
#include "d5/level1_network/profile/network_bench.hpp"

namespace d5 {
namespace {

/// A word that is not an operator may be a misspelt network.
OperatorCase only_case(const std::string& word, std::uint64_t seed) {
  try {
    const auto cases = read_case_words({word}, seed);
    if (cases.size() == 1) return cases.front().draw();
    throw ValueError(fmt::format("'{}' is {} cases, expected one: 'd5 op bench' takes several",
                                 printable(word), cases.size()));
  } catch (const NotFound&) {
    if (nearest_names(word, models().names()).empty()) throw;
    throw_unknown_name("network", word, models().names());
  }
}

/// A subject that cannot run has records with the reason.
Subject subject_of(const std::string& word, const std::string& framework,
                   const SubjectComparisonOptions& options) {
  const std::uint64_t seed = options.measuring.seed;
  Measurement record{.subject = word, .framework = framework, .device = to_string(options.device)};
  if (is_network(word)) {
    record.level = "network";
    return subject_or_refusal(record, [&] {
      return network_subject(word, framework, {.batch = options.batch},
                             {.device = options.device, .seed = seed});
    });
  }
  record.level = "operator";
  return subject_or_refusal(record, [&, one = only_case(word, seed)] {
    return operator_subject(one, framework, BenchOptions::Passes::forward, options.device);
  });
}

std::vector<Measurement> run_both(const std::string& a, const std::string& b,
                                  const SubjectComparisonOptions& options, int samples) {
  MeasureOptions measuring = options.measuring;
  measuring.samples = samples;
  const auto& first = options.frameworks.front();
  const auto& second = options.frameworks.back();
  auto results = measure_side_by_side(
      {subject_of(a, first, options), subject_of(b, second, options)}, options.metrics, measuring);
  CommandLine line("compare");
  line.word(a).word(b);
  if (is_network(a) || is_network(b)) line.option("--batch", options.batch);
  if (options.fail_above > 0) line.option("--fail-above", options.fail_above);
  if (options.retries > 0) line.option("--retry", options.retries);
  line.runs_in({first, second}, options.device);
  // A retry's line has the samples of the first try: the run retries by itself.
  line.append(to_line(options.measuring, options.metrics)).append(options.command_options);
  for (auto& result : results) result.command = line.text();
  return results;
}

}  // namespace

GatedRecords compare_subjects(const std::string& a, const std::string& b,
                              const SubjectComparisonOptions& options) {
  if (options.frameworks.empty() || options.frameworks.size() > 2) {
    throw ValueError("compare: give one framework for both subjects, or one for each");
  }
  detail::expect_fail_limit(options.fail_above);
  if (options.retries < 0 || (options.retries > 0 && options.fail_above == 0)) {
    throw ValueError(
        fmt::format("compare: retries is {}, expected 0 or more, and with it "
                    "fail_above, which they decide",
                    options.retries));
  }
  const int samples = options.measuring.samples;
  const auto run = [&](int now) { return run_both(a, b, options, now); };
  if (options.fail_above == 0) return {.records = run(samples)};
  return measure_until_decided(run, samples,
                               {.limit = options.fail_above,
                                .retries = options.retries,
                                .interrupt = options.measuring.interrupt,
                                .before_retry = options.before_retry});
}

}  // namespace d5
