// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/collectives/parts/measured_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "core/files/cache_folder.hpp"
#include "core/machine/machine.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "level3_distributed/communicator/gather_texts.hpp"
#include "level3_distributed/communicator/of_ranks.hpp"
#include "level3_distributed/node/nodes_of_strands.hpp"

namespace d5::detail {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 4;
constexpr int kLeastRounds = 5, kMostRounds = 200;
constexpr double kSecondsASize = 0.1;  // time in calls
constexpr double kSecondsInAll = 2;    // after it, other sizes take the choice of their neighbours
constexpr double kSecondsASample = 1e-4;  // short calls are timed as several in a row
constexpr int kMostCalls = 64;
/// Algorithms that are slower than the fastest by this factor are dropped after a first
/// measurement.
constexpr double kHopeless = 3;
constexpr int kFirstLooks = 3;
/// Sizes from latency-bound to bandwidth-bound, in an order that spreads them early, because on a
/// busy machine the time ends before all are measured.
constexpr std::array<std::int64_t, 12> kMeasuredSizes{
    4, 4096, 65'536, 1'048'576, 256, 16'384, 262'144, 4'194'304, 16, 64, 1024, 16'777'216};

std::vector<std::string> candidates() {
  std::vector<std::string> names = all_reduces().names();
  for (const char* wrapper : {"auto", "with_resources"}) std::erase(names, wrapper);
  return names;
}

std::string words(const Communicator& ranks) {
  return fmt::format("{}, {} cores; {}; {} ranks{}; {}", machine().cpu, machine().cores,
                     ranks.medium(), ranks.size(), ranks.shares_nodes() ? "" : ", no memory shared",
                     fmt::join(candidates(), ", "));
}

using Table = std::vector<FastestAllReduce>;

std::string to_json(const Table& table, const std::string& of) {
  Json rows = Json::array();
  for (const auto& [bytes, name, seconds] : table) {
    rows.push_back({{"bytes", bytes}, {"name", name}, {"seconds", seconds}});
  }
  const Json json = {{"format", kFormat}, {"of", of}, {"fastest", rows}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Empty if the text is damaged or of another kind.
Table from_json(const std::string& text, const std::string& of) {
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != kFormat || json.at("of") != of) return {};
    Table table;
    for (const Json& row : json.at("fastest")) {
      table.push_back({row.at("bytes"), row.at("name"), row.at("seconds")});
      if (!all_reduces().find(table.back().name)) return {};
    }
    return table;
  } catch (const Json::exception&) {
    return {};
  }
}

/// Broadcasts rank 0's text.
std::string told(Communicator& ranks, const std::string& text) {
  return gather_texts(ranks, ranks.rank() == 0 ? text : "").front();
}

/// The algorithms that work between these ranks. A refusal is the same on all ranks.
std::map<std::string, std::shared_ptr<AllReduce>> working(Communicator& ranks) {
  std::map<std::string, std::shared_ptr<AllReduce>> all;
  for (const std::string& name : candidates()) {
    try {
      auto one = all_reduces().at(name).make();
      Tensor data = Tensor::zeros(DType::float32, {1});
      one->start(ranks, data)->wait();
      all[name] = std::move(one);
    } catch (const Unsupported&) {
      continue;
    }
  }
  return all;
}

/// Seconds of a call on the slowest rank, the same on all ranks.
double slowest_call(Communicator& ranks, AllReduce& algorithm, Tensor& data, int calls) {
  ranks.barrier();
  const double begin = now_seconds();  // all calls, one after the other
  for (int i = 0; i < calls; ++i) algorithm.start(ranks, data)->wait();
  return largest_of_ranks(ranks, (now_seconds() - begin) / calls);
}

/// The shortest of a few first measurements. Each has enough calls to be long, because the time of
/// a single call of a microsecond is dominated by how ranks leave the barrier.
double first_look(Communicator& ranks, AllReduce& algorithm, Tensor& data) {
  (void)slowest_call(ranks, algorithm, data, 1);  // touches the memory
  double shortest = slowest_call(ranks, algorithm, data, 1);
  const int calls =
      static_cast<int>(std::clamp(kSecondsASample / shortest, 1.0, double{kMostCalls}));
  for (int look = 0; look < kFirstLooks; ++look) {
    shortest = std::min(shortest, slowest_call(ranks, algorithm, data, calls));
  }
  return shortest;
}

/// An algorithm with its times at one size.
struct Runner {
  std::string name;
  std::shared_ptr<AllReduce> algorithm;
  std::vector<double> seconds = {};

  /// The first quartile, because other work on the machine disturbs some calls.
  [[nodiscard]] double quartile() {
    const auto place = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 4);
    std::ranges::nth_element(seconds, place);
    return *place;
  }
};

/// In virtual time, all calls of a size take the same time.
FastestAllReduce fastest_of_strands(Communicator& ranks, const std::vector<Runner>& runners,
                                    std::int64_t bytes) {
  Tensor data = phantom_tensor({DType::float32, {bytes / 4}});
  FastestAllReduce best{bytes, "", INFINITY};
  for (const Runner& runner : runners) {
    (void)slowest_call(ranks, *runner.algorithm, data, 1);  // one-time setup
    const double seconds = slowest_call(ranks, *runner.algorithm, data, 1);
    if (seconds < best.seconds) best = {bytes, runner.name, seconds};
  }
  return best;
}

FastestAllReduce fastest(Communicator& ranks, std::vector<Runner> runners, std::int64_t bytes) {
  if (nodes_of_strands()) return fastest_of_strands(ranks, runners, bytes);
  Tensor data = Tensor::zeros(DType::float32, {bytes / 4});
  double shortest = INFINITY, sum = 0;
  for (Runner& runner : runners) {
    runner.seconds = {first_look(ranks, *runner.algorithm, data)};
    shortest = std::min(shortest, runner.seconds.front());
  }
  std::erase_if(
      runners, [&](const Runner& runner) { return runner.seconds.front() > kHopeless * shortest; });
  const int calls =
      static_cast<int>(std::clamp(kSecondsASample / shortest, 1.0, double{kMostCalls}));
  for (Runner& runner : runners) runner.seconds.clear();
  for (int round = 0; round < kLeastRounds || (round < kMostRounds && sum < kSecondsASize);
       ++round) {
    for (Runner& runner : runners) {
      runner.seconds.push_back(slowest_call(ranks, *runner.algorithm, data, calls));
      sum += runner.seconds.back() * calls;
    }
  }
  const auto best = std::ranges::min_element(runners, {}, &Runner::quartile);
  return {bytes, best->name, best->quartile()};
}

Table measure(Communicator& ranks) {
  std::vector<Runner> runners;
  for (const auto& [name, algorithm] : working(ranks)) runners.push_back({name, algorithm});
  Table table;
  const double begin = now_seconds();
  for (const std::int64_t bytes : kMeasuredSizes) {
    table.push_back(fastest(ranks, runners, bytes));
    Tensor spent = Tensor::scalar(now_seconds() - begin);
    ranks.broadcast(spent, 0);  // rank 0's clock decides
    if (spent.item<double>() > kSecondsInAll) break;
  }
  std::ranges::sort(table, {}, &FastestAllReduce::bytes);
  return table;
}

}  // namespace

std::vector<FastestAllReduce> fastest_all_reduces(Communicator& ranks) {
  const std::string of = told(ranks, words(ranks));
  // A simulation has no cache: the key does not describe it, and its measurements take no real
  // time.
  const auto file = nodes_of_strands() ? std::filesystem::path() : measured_file("all-reduce", of);
  std::string kept;
  std::error_code ignored;
  if (ranks.rank() == 0 && !file.empty() && std::filesystem::is_regular_file(file, ignored)) {
    try {
      kept = read_file(file.string(), 1 << 16);
    } catch (const IoError&) {
      kept.clear();  // it is measured again
    }
  }
  Table table = from_json(told(ranks, kept), of);
  if (!table.empty()) return table;
  // All ranks have the same times: those of the slowest.
  table = measure(ranks);
  if (ranks.rank() == 0 && !file.empty()) {
    try {
      keep_measured(file, to_json(table, of));
    } catch (const IoError&) {
      return table;  // it is measured again next time
    }
  }
  return table;
}

std::size_t reach_of(const std::vector<FastestAllReduce>& table, std::size_t row) {
  if (row + 1 >= table.size()) return SIZE_MAX;
  return static_cast<std::size_t>(
      std::sqrt(static_cast<double>(table[row].bytes) * static_cast<double>(table[row + 1].bytes)));
}

std::string to_string(const std::vector<FastestAllReduce>& table) {
  std::string text;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (i + 1 < table.size() && table[i + 1].name == table[i].name) continue;
    if (!text.empty()) text += i + 1 < table.size() ? ", " : ", then ";
    text += table[i].name;
    if (i + 1 < table.size()) text += " to " + byte_words(reach_of(table, i));
  }
  return text;
}

}  // namespace d5::detail
