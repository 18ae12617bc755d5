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
#include "d5/core/atomic_file.hpp"
#include "d5/core/byte_count.hpp"
#include "d5/core/clock.hpp"
#include "d5/core/error.hpp"
#include "d5/level3_distributed/collective.hpp"
#include "level3_distributed/communicator/gather_texts.hpp"

namespace d5::detail {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 2;
constexpr int kLeastRounds = 5, kMostRounds = 200;
constexpr double kSecondsASize = 0.2;  // of calls
/// From what latency decides to what bandwidth does.
constexpr std::array<std::int64_t, 7> kSizes{4, 256, 4096, 65'536, 524'288, 4'194'304, 16'777'216};

std::vector<std::string> candidates() {
  std::vector<std::string> names = all_reduces().names();
  std::erase(names, "auto");
  return names;
}

std::string words(const Communicator& ranks) {
  return fmt::format("{}, {} cores; {}; {} ranks; {}", machine().cpu, machine().cores,
                     ranks.medium(), ranks.size(), fmt::join(candidates(), ", "));
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

/// Empty where it is damaged, or of something else.
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

/// Rank 0's text, on all.
std::string told(Communicator& ranks, const std::string& text) {
  return gather_texts(ranks, ranks.rank() == 0 ? text : "").front();
}

/// Those that work between these ranks. What is refused is refused on all.
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

/// The slowest rank's seconds of one call, the same on all.
double slowest_call(Communicator& ranks, AllReduce& algorithm, Tensor& data) {
  ranks.barrier();
  const double begin = now_seconds();  // one call, until it is done
  algorithm.start(ranks, data)->wait();
  Tensor slowest = Tensor::scalar(now_seconds() - begin);
  ranks.all_reduce(slowest, Reduction::maximum);
  return slowest.item<double>();
}

Table measure(Communicator& ranks) {
  const auto algorithms = working(ranks);
  Table table;
  for (const std::int64_t bytes : kSizes) {
    Tensor data = Tensor::zeros(DType::float32, {bytes / 4});
    std::map<std::string, std::vector<double>> seconds;
    double sum = 0;
    for (int round = 0; round < kLeastRounds || (round < kMostRounds && sum < kSecondsASize);
         ++round) {
      for (const auto& [name, algorithm] : algorithms) {
        seconds[name].push_back(slowest_call(ranks, *algorithm, data));
        sum += seconds[name].back();
      }
    }
    FastestAllReduce fastest{bytes, "mpi", INFINITY};
    for (auto& [name, times] : seconds) {
      // What other work on the machine does to some calls is none of the algorithm's.
      const auto quartile = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 4);
      std::ranges::nth_element(times, quartile);
      if (*quartile < fastest.seconds) fastest = {bytes, name, *quartile};
    }
    table.push_back(fastest);
  }
  return table;
}

}  // namespace

std::vector<FastestAllReduce> fastest_all_reduces(Communicator& ranks) {
  const std::string of = told(ranks, words(ranks));
  const auto file = measured_file("all-reduce", of);
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
  // All ranks have the same times: the slowest's.
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
