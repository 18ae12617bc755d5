// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/profile/contention_map.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/statistics/student.hpp"

namespace d5 {
namespace {

constexpr const char *kKernelSlowdown = "kernel_slowdown", *kCallSlowdown = "all_reduce_slowdown";

bool holds_slowdown(const Measurement& record) {
  return (record.metric == kKernelSlowdown || record.metric == kCallSlowdown) &&
         !record.samples.empty();
}

/// Without a number of threads a prediction's calls have none of their own.
std::string resource_words(CommunicationResources resources) {
  resources.threads = resources.threads.value_or(0);
  return to_words(resources);
}

/// "ring" of "ring:segments=4".
std::string algorithm_of(const std::string& words) { return words.substr(0, words.find(':')); }

/// The rounds of one cell.
struct KernelRounds {
  std::vector<std::vector<double>> kernel, calls;
  double flop = 0, bytes = 0;
  bool mistrusted = false;
};

struct WorkPlace {
  double flop, bytes;
};
WorkPlace work_place(double flop, double bytes) {
  return {std::log2(flop + 1), std::log2(bytes + 1)};
}

}  // namespace

ContentionMap::ContentionMap(const Results& results, Misfit misfit)
    : misfit_(misfit),
      machine_(machine_words(results.environment)),
      threads_(results.environment.threads) {
  std::map<std::string, std::map<std::string, KernelRounds>> all;  // by resources and kernel
  std::vector<std::string> without_work;
  for (const Measurement& record : results.measurements) {
    if (!holds_slowdown(record)) continue;
    const auto flop = condition_number(record, "kernel_flop");
    const auto bytes = condition_number(record, "kernel_bytes");
    if (!flop || !bytes) {
      if (std::ranges::find(without_work, record.subject) == without_work.end()) {
        without_work.push_back(record.subject);
      }
      continue;
    }
    all_reduce_ = algorithm_of(condition_of(record, "all_reduce"));
    ranks_ = static_cast<int>(condition_number(record, "ranks").value_or(0));
    const std::string resources = resource_words(resources_of(condition_of(record, "resources")));
    KernelRounds& rounds = all[resources][record.subject];
    rounds.flop = *flop;
    rounds.bytes = *bytes;
    (record.metric == kKernelSlowdown ? rounds.kernel : rounds.calls).push_back(record.samples);
    rounds.mistrusted = rounds.mistrusted || record.status != Status::passed;
  }
  for (const auto& [resources, kernels] : all) {
    for (const auto& [kernel, rounds] : kernels) {
      if (rounds.kernel.empty() || rounds.calls.empty()) continue;
      const Slowdown slowdown{.kernel = estimate_of_groups(rounds.kernel).value,
                              .all_reduce = estimate_of_groups(rounds.calls).value};
      expect_usable(slowdown, "overlap map, kernel '" + kernel + "'");
      cells_[resources].push_back({kernel, rounds.flop, rounds.bytes, slowdown, rounds.mistrusted});
    }
  }
  if (!cells_.empty()) return;
  throw ValueError(
      without_work.empty()
          ? std::string("overlap map: no record has a kernel's slowdown; give a file that 'd5 "
                        "overlap map --out' wrote")
          : fmt::format("overlap map: FLOP and bytes of its kernels are missing ('{}'{}); measure "
                        "it again, with cases or a model",
                        printable(without_work.front()), without_work.size() > 1 ? ", ..." : ""));
}

ContentionMap::Cells ContentionMap::cells_for(const ContentionSetup& setup) const {
  std::vector<std::string> differences;
  const auto compare = [&](const std::string& what, const std::string& map,
                           const std::string& prediction) {
    if (map == prediction) return;
    differences.push_back(fmt::format("its {} is '{}', the prediction's is '{}'", what,
                                      printable(map), printable(prediction)));
  };
  for (const auto& [word, value] : setup.machine) {
    const auto place = machine_.find(word);
    compare(word, place == machine_.end() ? "" : place->second, value);
  }
  if (setup.threads > 0) {
    compare("number of threads", std::to_string(threads_), std::to_string(setup.threads));
  }
  compare("all-reduce", all_reduce_, setup.all_reduce);
  const std::string resources = resource_words(setup.resources);
  auto place = cells_.find(resources);
  if (place == cells_.end()) {
    std::vector<std::string> known;
    for (const auto& [words, cells] : cells_) known.push_back(words);
    differences.push_back(fmt::format("it has resources '{}', the prediction's are '{}'",
                                      fmt::join(known, "', '"), resources));
    place = cells_.begin();
  }
  if (misfit_ == Misfit::refuse && !differences.empty()) {
    throw ValueError(
        fmt::format("overlap map: {}; measure a map that fits, or use it as mistrusted ({})",
                    fmt::join(differences, "; "), option_word("force")));
  }
  Cells found{.cells = place->second};
  for (const std::string& difference : differences) {
    found.mistrusted.push_back("the map does not fit: " + difference);
  }
  if (setup.machine.empty()) {
    found.mistrusted.emplace_back("the profile's machine is unknown, and may not be the map's");
  }
  if (const auto count = std::ranges::count(found.cells, true, &Cell::mistrusted); count > 0) {
    found.mistrusted.push_back(
        fmt::format("the map mistrusts {} of its {} kernels", count, found.cells.size()));
  }
  if (setup.resources.threads.value_or(0) == 0) {
    found.mistrusted.emplace_back(
        "without threads of their own all-reduces stand still beside a kernel: the map's slowdown "
        "of them depends on the length of its kernels; simulated ranks, which wait until they "
        "poll, take its slowdown of kernels alone");
  }
  return found;
}

Slowdown ContentionMap::Cells::slowdown(double flop, double bytes) const {
  const WorkPlace wanted = work_place(flop, bytes);
  double nearest = std::numeric_limits<double>::infinity();
  std::vector<double> squares;
  for (const Cell& cell : cells) {
    const WorkPlace place = work_place(cell.flop, cell.bytes);
    const double x = place.flop - wanted.flop, y = place.bytes - wanted.bytes;
    squares.push_back(x * x + y * y);
    nearest = std::min(nearest, squares.back());
  }
  double weights = 0, kernel = 0, all_reduce = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    // Relative to the nearest; if that is at the place itself, only cells there count.
    const double weight = nearest > 0 ? nearest / squares[i] : squares[i] == 0 ? 1 : 0;
    weights += weight;
    kernel += weight * std::log(cells[i].slowdown.kernel);
    all_reduce += weight * std::log(cells[i].slowdown.all_reduce);
  }
  return {.kernel = std::exp(kernel / weights), .all_reduce = std::exp(all_reduce / weights)};
}

bool ContentionMap::Cells::lacks(double flop, double bytes) const {
  const auto [fewest, most] = std::ranges::minmax(cells, {}, &Cell::flop);
  const auto [least, largest] = std::ranges::minmax(cells, {}, &Cell::bytes);
  return flop < fewest.flop || flop > most.flop || bytes < least.bytes || bytes > largest.bytes;
}

}  // namespace d5
