// SPDX-License-Identifier: Apache-2.0
#include "prediction/training/contended_pieces.hpp"

#include <fmt/format.h>

#include <map>

#include "d5/level3_distributed/collectives/collective.hpp"

namespace d5::detail {
namespace {

struct KernelWork {
  double flop = 0, bytes = 0;
};

/// The work of each piece at `batch`; zeros: unknown.
std::vector<KernelWork> kernel_work(const TrainingProfile& profile, std::int64_t batch) {
  const double samples =
      static_cast<double>(batch) / static_cast<double>(profile.batches.front().batch);
  std::map<std::string, KernelWork> forward, updates;
  for (const auto& piece : profile.pieces) {
    if (piece.kind == "forward")
      forward[piece.name] = {piece.flop * samples, piece.bytes * samples};
  }
  for (const auto& parameter : profile.parameters) {
    updates[parameter.name] = {2 * parameter.bytes / 4, 3 * parameter.bytes};
  }
  std::vector<KernelWork> works;
  for (const auto& piece : profile.pieces) {
    KernelWork work;
    if (piece.kind == "update") {
      work = updates[piece.name];
    } else if (piece.kind == "forward" || piece.kind == "backward") {
      work = forward[piece.name];
      const double times = piece.kind == "backward" ? 2 : 1;
      work = {times * work.flop, times * work.bytes};
    }
    works.push_back(work);
  }
  return works;
}

PlannedAllReduce simulated_all_reduce(const SimulatedTrainingOptions& options) {
  PlannedAllReduce planned = planned_all_reduce(options.scheme, "auto");
  if (options.simulation.progress == SimulatedProgressRule::thread && !planned.resources.threads) {
    planned.resources.threads = 1;
  }
  return planned;
}

}  // namespace

PlannedAllReduce planned_all_reduce(const EntryChoice& scheme, const std::string& usual) {
  PlannedAllReduce planned{.name = scheme.settings.text("all_reduce", usual)};
  if (planned.name != "with_resources") return planned;
  const Settings settings = scheme.settings.below("all_reduce");
  planned.name = settings.text("of", "node_memory");
  planned.resources = resources_of(all_reduces().at("with_resources").make(settings)->chosen());
  return planned;
}

ContentionMap::Cells map_cells(const TrainingProfile& profile,
                               const SimulatedTrainingOptions& options) {
  const PlannedAllReduce planned = simulated_all_reduce(options);
  return options.map->cells_for({.machine = profile.machine,
                                 .threads = profile.threads,
                                 .all_reduce = planned.name,
                                 .resources = planned.resources});
}

bool simulates_waits(const SimulatedTrainingOptions& options) {
  return options.simulation.progress == SimulatedProgressRule::poll &&
         simulated_all_reduce(options).resources.threads.value_or(0) == 0;
}

ContendedPieces contended_pieces(const TrainingProfile& profile,
                                 const SimulatedTrainingOptions& options) {
  ContendedPieces pieces;
  pieces.slowdowns.resize(profile.pieces.size());
  if (!options.map) return pieces;
  const ContentionMap::Cells cells = map_cells(profile, options);
  pieces.mistrusted = cells.mistrusted;
  const StepTimes times = step_times(profile, options.batch);
  const auto works = kernel_work(profile, options.batch);
  int lacking = 0;
  for (std::size_t i = 0; i < works.size(); ++i) {
    if (profile.pieces[i].kind == "load") continue;
    const auto [flop, bytes] = works[i];
    const bool is_known = flop > 0 || bytes > 0;
    if (is_known) pieces.slowdowns[i] = cells.slowdown(flop, bytes);
    if (is_known && !cells.lacks(flop, bytes)) continue;
    ++lacking;
    pieces.lacking += times.seconds[i] / times.step;
  }
  if (lacking > 0) {
    pieces.mistrusted.push_back(
        fmt::format("the map has no kernel like {} of {} pieces, {:.0f}% of the step: the nearest "
                    "kernels stand for them, and no slowdown for unknown work",
                    lacking, works.size(), 100 * pieces.lacking));
  }
  return pieces;
}

}  // namespace d5::detail
