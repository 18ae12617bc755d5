// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/collective_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>

#include "core/process/launcher.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "level3_distributed/collectives/parts/bench_ranks.hpp"

namespace d5 {
namespace {

using detail::BenchRanks;
constexpr std::int64_t kElementBytes = 4;

/// Time of one call on the slowest rank.
class SlowestRankTime final : public Metric {
 public:
  explicit SlowestRankTime(BenchRanks& ranks) : ranks_(ranks) {}
  std::string name() const override { return "time"; }
  std::string unit() const override { return "s"; }
  Quantity quantity() const override { return Quantity::time; }
  OverRanks over_ranks() const override { return OverRanks::maximum; }
  int reruns() const override { return kAsAsked; }
  void sample(double seconds) override {
    samples_.push_back(ranks_.slowest(seconds) / ranks_.repetitions());
  }
  void summarise(Measurement& result) const override {
    result.samples = samples_;
    result.conditions["repetitions"] = aside(ranks_.repetitions());
  }

 private:
  BenchRanks& ranks_;
  std::vector<double> samples_;
};

std::vector<EntryChoice> chosen(const CollectiveKind& kind, const CollectiveBenchOptions& options) {
  std::vector<EntryChoice> choices = options.algorithms;
  if (choices.empty()) {
    for (const std::string& name : kind.names()) choices.push_back({name});
    std::ranges::stable_partition(choices, [](const auto& one) { return one.name == "mpi"; });
  }
  return choices;
}

/// Sizes in elements, without duplicates. Throws: ValueError.
std::vector<std::int64_t> elements_of(const CollectiveKind& kind,
                                      const CollectiveBenchOptions& options, int ranks) {
  const auto& sizes = options.sizes.empty() ? default_collective_sizes() : options.sizes;
  const bool in_parts = kind.call == CallKind::reduce_scatter || kind.call == CallKind::all_gather;
  const std::int64_t step = in_parts ? ranks : 1;
  std::vector<std::int64_t> result;
  std::set<std::int64_t> seen;
  for (const std::int64_t bytes : sizes) {
    if (bytes < kElementBytes || bytes % kElementBytes != 0) {
      throw ValueError(fmt::format(
          "{} bench: a size is {} bytes; expected whole float32, 4 bytes each", kind.word, bytes));
    }
    const std::int64_t elements = (bytes / kElementBytes + step - 1) / step * step;
    if (seen.insert(elements).second) result.push_back(elements);
  }
  return result;
}

Measurement bandwidth(const Measurement& time, const std::string& metric, double bytes) {
  Measurement result = time;
  result.metric = metric;
  result.unit = "byte/s";
  result.quantity = Quantity::rate;
  result.direction = Direction::higher_is_better;
  result.over_ranks = OverRanks::apart;
  for (double& sample : result.samples) sample = bytes / sample;
  return result;
}

/// The line that measures a size again, of all algorithms, so that they are interleaved again.
std::string line_of(const CollectiveKind& kind, const std::vector<EntryChoice>& choices,
                    const std::string& size, int ranks, const CollectiveBenchOptions& options) {
  CommandLine line(kind.word + " bench");
  for (const EntryChoice& choice : choices) line.word(to_words(choice));
  line.option("--sizes", size).option("--threads", threads());
  line.option("--seed", options.measuring.seed);
  line.options(options.measuring, CollectiveBenchOptions().measuring);
  line.append(options.command_options);
  return (ranks == 1 ? "" : detail::launcher_line(ranks)) + line.text();
}

/// Measures one size, on rank 0.
std::vector<Measurement> measure_size(const CollectiveKind& kind,
                                      const std::vector<EntryChoice>& choices, BenchRanks& bench,
                                      std::int64_t bytes, int ranks,
                                      const CollectiveBenchOptions& options) {
  const std::string line = line_of(kind, choices, byte_words(std::size_t(bytes)), ranks, options);
  std::vector<Subject> subjects;
  for (std::size_t a = 0; a < choices.size(); ++a) {
    Subject& subject = subjects.emplace_back();
    Measurement& record = subject.record;
    record.subject = kind.word + " " + to_words(choices[a]);
    record.command = line;
    record.level = "distributed";
    record.framework = "reference";
    record.conditions["ranks"] = identity(ranks);
    record.conditions["size"] = identity(bytes, "byte");
    subject.prepare = [&bench, a] { bench.prepare(a); };
    subject.run = [&bench] { bench.call(); };
    subject.judge = [&bench, a](Subject::Moment) {
      const std::int64_t wrong = bench.wrong_elements(a);
      Verdict verdict{.judge = "sums of whole numbers"};
      verdict.is = wrong == 0 ? Verdict::Is::right : Verdict::Is::wrong;
      if (wrong != 0) verdict.reason = fmt::format("{} elements on all ranks", wrong);
      return verdict;
    };
  }
  MeasureOptions measuring = options.measuring;
  measuring.seconds_per_sample =
      0;  // a run already consists of several calls, equally many on each rank
  const auto measured = measure_side_by_side(
      subjects, {[&bench] { return std::make_shared<SlowestRankTime>(bench); }}, measuring);
  std::vector<Measurement> results;
  for (const Measurement& record : measured) {
    results.push_back(record);
    if (record.metric != "time") continue;
    results.push_back(bandwidth(record, "algorithm_bandwidth", double(bytes)));
    results.push_back(bandwidth(record, "bus_bandwidth", double(bytes) * kind.bus_factor(ranks)));
  }
  return results;
}

}  // namespace

std::vector<std::int64_t> default_collective_sizes() {
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = 4; bytes <= std::int64_t{64} << 20; bytes *= 4) sizes.push_back(bytes);
  return sizes;
}

std::vector<std::int64_t> deepbench_all_reduce_sizes(const std::string& file) {
  std::ifstream lines(file);
  if (!lines) throw IoError(fmt::format("{}: cannot be read", printable(file)));
  std::string line;
  std::getline(lines, line);
  if (!line.starts_with("elements")) {
    throw FormatError(fmt::format("{}: the first column must be 'elements'", printable(file)));
  }
  std::vector<std::int64_t> sizes;
  while (std::getline(lines, line)) {
    std::int64_t elements = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), elements);
    if (error != std::errc() || elements < 1) {
      throw FormatError(fmt::format("{}: '{}' does not begin with a number of elements",
                                    printable(file), printable(line)));
    }
    sizes.push_back(elements * kElementBytes);
  }
  return sizes;
}

std::vector<Measurement> bench_collective(CallKind call, const CollectiveBenchOptions& options,
                                          Communicator& ranks) {
  const CollectiveKind& kind = collective_kind(call);
  if (options.measuring.cold_cache) {
    throw ValueError(
        kind.word +
        " bench: caches are shared by all ranks, and only this rank's can be evicted; leave out " +
        option_word("cold_cache"));
  }
  const auto choices = chosen(kind, options);
  std::vector<CollectiveKind::Algorithm> algorithms;
  for (const EntryChoice& choice : choices) algorithms.push_back(kind.make(choice));
  const auto all_elements = elements_of(kind, options, ranks.size());
  const auto watched = std::make_shared<CallTimeout>(ranks.split(0, ranks.rank()));
  std::vector<Measurement> results;
  try {
    for (const std::int64_t elements : all_elements) {
      BenchRanks bench(kind, algorithms, elements, ranks, *watched);
      if (ranks.rank() != 0) {
        bench.follow();
        continue;
      }
      auto records =
          measure_size(kind, choices, bench, elements * kElementBytes, ranks.size(), options);
      bench.end();
      std::ranges::move(records, std::back_inserter(results));
    }
  } catch (...) {
    watched->tell_failure();
    throw;
  }
  return results;
}

}  // namespace d5
