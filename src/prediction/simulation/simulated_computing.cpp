// SPDX-License-Identifier: Apache-2.0
#include "prediction/simulation/simulated_computing.hpp"

#include <algorithm>
#include <utility>

namespace d5::detail {

SimulatedComputing::SimulatedComputing(TimedChanges& others, int ranks, FiberScheduler& scheduler,
                                       MessageBoard& board)
    : others_(others),
      scheduler_(scheduler),
      board_(board),
      works_(static_cast<std::size_t>(ranks)) {
  board_.on_traffic([this](int rank, double time) { take_traffic(rank, time); });
}

void SimulatedComputing::compute(double seconds, const Slowdown& slowdown) {
  scheduler_.catch_up();
  auto& strand = scheduler_.current();
  works_[static_cast<std::size_t>(strand.rank)] = {
      .strand = &strand, .slowdown = slowdown, .left = seconds, .since = strand.time};
  enter(strand.rank, strand.time);
  slow_messages(strand.time);
  scheduler_.wait();
}

/// Times what is left by the present traffic.
void SimulatedComputing::enter(int rank, double now) {
  Work& work = works_[static_cast<std::size_t>(rank)];
  work.overlaps = board_.has_traffic(rank);
  work.since = now;
  work.end = now + work.left * work.factor();
  ends_.emplace(work.end, rank);
  if (work.overlaps) factors_.insert(work.slowdown.all_reduce);
}

void SimulatedComputing::leave(int rank) {
  const Work& work = works_[static_cast<std::size_t>(rank)];
  ends_.erase({work.end, rank});
  if (work.overlaps) factors_.erase(factors_.find(work.slowdown.all_reduce));
}

void SimulatedComputing::take_traffic(int rank, double now) {
  Work& work = works_[static_cast<std::size_t>(rank)];
  if (!work.strand) return;
  leave(rank);
  work.left = std::max(0.0, work.left - (now - work.since) / work.factor());
  enter(rank, now);
  slow_messages(now);
}

bool SimulatedComputing::advance(double limit) {
  if (ends_.empty()) return others_.advance(limit);
  const auto [end, rank] = *ends_.begin();
  if (others_.advance(std::min(limit, end))) return true;
  if (end > limit) return false;
  leave(rank);
  slow_messages(end);
  scheduler_.wake(*std::exchange(works_[static_cast<std::size_t>(rank)].strand, nullptr), end);
  return true;
}

}  // namespace d5::detail
