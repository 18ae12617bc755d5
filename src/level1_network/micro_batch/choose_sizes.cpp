// SPDX-License-Identifier: Apache-2.0
#include "level1_network/micro_batch/choose_sizes.hpp"

#include <algorithm>
#include <limits>
#include <ranges>

#include "level1_network/mixture/integer_program.hpp"

namespace d5 {
namespace {

constexpr std::size_t kNoBytes = std::numeric_limits<std::size_t>::max();

/// The integer program of a choice, and the meaning of its variables.
class SizeProgram {
 public:
  SizeProgram(const std::vector<SegmentWays>& segments, std::int64_t batch, std::size_t most_bytes)
      : batch_(batch) {
    for (const auto& segment : segments) add(segment, most_bytes);
    for (auto& [cut, row] : one_segment_) program_.rows.push_back(std::move(row));
  }

  std::optional<std::vector<ChosenSizes>> solve() const {
    const auto counts = minimise(program_);
    if (!counts) return std::nullopt;
    std::vector<ChosenSizes> result;
    for (const auto& [segment, variables] : micro_batches_) {
      ChosenSizes chosen{.segment = segment, .sizes = {}};
      for (const auto& [size, variable] : std::views::reverse(variables)) {
        chosen.sizes.insert(chosen.sizes.end(), std::size_t((*counts)[variable]), size);
      }
      if (!chosen.sizes.empty()) result.push_back(std::move(chosen));
    }
    return result;
  }

 private:
  using Variables = std::map<std::int64_t, std::size_t>;  // keyed by size

  void add(const SegmentWays& segment, std::size_t most_bytes) {
    Variables split, whole;
    for (const auto& [size, bytes] : segment.bytes) {
      if (bytes > most_bytes) continue;
      const double cost = kScale * segment.seconds(size);
      (size == batch_ ? whole : split)[size] = program_.add_variable(cost, batch_ / size);
    }
    if (!split.empty()) {
      const std::size_t used = program_.add_variable(kScale * segment.joint_seconds, 1);
      IntegerProgram::Row adds_up{.terms = {{used, -double(batch_)}}};
      for (const auto& [size, variable] : split) {
        adds_up.terms.emplace_back(variable, double(size));
      }
      program_.rows.push_back(std::move(adds_up));
      cover(segment, used);
      micro_batches_.emplace_back(&segment, std::move(split));
    }
    if (!whole.empty()) {
      cover(segment, whole.begin()->second);
      micro_batches_.emplace_back(&segment, std::move(whole));
    }
    for (std::size_t cut = segment.begin; cut < segment.end; ++cut) (void)row(cut);
  }
  void cover(const SegmentWays& segment, std::size_t variable) {
    for (std::size_t cut = segment.begin; cut < segment.end; ++cut) {
      row(cut).terms.emplace_back(variable, 1);
    }
  }
  IntegerProgram::Row& row(std::size_t cut) {
    return one_segment_.try_emplace(cut, IntegerProgram::Row{.least = 1, .most = 1}).first->second;
  }

  static constexpr double kScale = 1e3;  // milliseconds: well above the solver's tolerances
  std::int64_t batch_;
  IntegerProgram program_;
  std::map<std::size_t, IntegerProgram::Row> one_segment_;  // keyed by the cut before it
  std::vector<std::pair<const SegmentWays*, Variables>> micro_batches_;
};

}  // namespace

std::size_t least_bytes(const std::vector<SegmentWays>& segments) {
  // The least memory of the segments up to each cut.
  std::map<std::size_t, std::size_t> until;
  std::vector<const SegmentWays*> order;
  for (const auto& segment : segments) order.push_back(&segment);
  std::ranges::stable_sort(order, {}, &SegmentWays::begin);
  for (const SegmentWays* segment : order) {
    std::size_t least = kNoBytes;
    for (const auto& [size, bytes] : segment->bytes) least = std::min(least, bytes);
    const auto before = until.find(segment->begin);
    if (before != until.end()) least = std::max(least, before->second);
    auto& there = until.try_emplace(segment->end, kNoBytes).first->second;
    there = std::min(there, least);
  }
  return until.empty() ? 0 : until.rbegin()->second;
}

std::optional<std::vector<ChosenSizes>> choose_sizes(const std::vector<SegmentWays>& segments,
                                                     std::int64_t batch, std::size_t most_bytes) {
  return SizeProgram(segments, batch, most_bytes).solve();
}

}  // namespace d5
