// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/distributed_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "level3_distributed/communicator/boot_id.hpp"
#include "level3_distributed/communicator/gather_texts.hpp"

namespace d5 {
namespace {

void send_text(Communicator& ranks, const std::string& text) {
  ranks.send(Tensor::scalar(static_cast<std::int64_t>(text.size())), 0);
  Tensor bytes = Tensor::empty(DType::uint8, {static_cast<std::int64_t>(text.size())});
  std::ranges::copy(text, bytes.data<std::uint8_t>());
  ranks.send(bytes, 0);
}

std::string receive_text(Communicator& ranks, int from) {
  Tensor size = Tensor::scalar<std::int64_t>(0);
  ranks.receive(size, from);
  Tensor bytes = Tensor::empty(DType::uint8, {size.item<std::int64_t>()});
  ranks.receive(bytes, from);
  const auto text = bytes.span<std::uint8_t>();
  return {text.begin(), text.end()};
}

/// The offset between two clocks: another rank's reading is assumed in the middle between two own
/// readings.
ClockOffset offset_of(std::int64_t before, std::int64_t theirs, std::int64_t after) {
  const std::int64_t round_trip = after - before;
  return {.offset_ns = before + round_trip / 2 - theirs, .uncertainty_ns = round_trip / 2 + 1};
}

/// Rank 0's part: measures the offset of rank `other` and sends it.
void measure_offset(Communicator& ranks, int other, int exchanges,
                    const std::function<std::int64_t()>& clock) {
  Tensor theirs = Tensor::scalar<std::int64_t>(0);
  ClockOffset best;
  for (int i = 0; i < exchanges; ++i) {
    const std::int64_t before = clock();
    ranks.send(theirs, other);
    ranks.receive(theirs, other);
    const ClockOffset offset = offset_of(before, theirs.item<std::int64_t>(), clock());
    if (i == 0 || offset.uncertainty_ns < best.uncertainty_ns) best = offset;
  }
  ranks.send(Tensor::vector<std::int64_t>({best.offset_ns, best.uncertainty_ns}), other);
}

/// The part of the other rank.
ClockOffset answer(Communicator& ranks, int exchanges, const std::function<std::int64_t()>& clock) {
  Tensor mine = Tensor::scalar<std::int64_t>(0);
  for (int i = 0; i < exchanges; ++i) {
    ranks.receive(mine, 0);
    *mine.data<std::int64_t>() = clock();
    ranks.send(mine, 0);
  }
  Tensor offset = Tensor::vector<std::int64_t>({0, 0});
  ranks.receive(offset, 0);
  return {offset.data<std::int64_t>()[0], offset.data<std::int64_t>()[1]};
}

}  // namespace

ClockOffset clock_offset(Communicator& ranks) {
  const auto machines = detail::gather_texts(ranks, detail::boot_id());
  const auto shares_clock = [&](int rank) {
    return !machines.front().empty() &&
           machines[static_cast<std::size_t>(rank)] == machines.front();
  };
  bool one_clock = true;
  for (int rank = 1; rank < ranks.size(); ++rank) one_clock = one_clock && shares_clock(rank);
  if (one_clock) return {};
  const ClockOffset estimate = estimate_clock_offset(ranks);
  return shares_clock(ranks.rank()) ? ClockOffset{} : estimate;
}

ClockOffset estimate_clock_offset(Communicator& ranks, const std::function<std::int64_t()>& clock) {
  constexpr int kExchanges = 16;  // the first few are slow, because connections are made
  if (ranks.rank() != 0) return answer(ranks, kExchanges, clock);
  for (int other = 1; other < ranks.size(); ++other) {
    measure_offset(ranks, other, kExchanges, clock);
  }
  return {};
}

ClockOffset clock_line(const ClockSample& begin, const ClockSample& end) {
  ClockOffset line = begin.offset;
  line.since_ns = begin.at_ns;
  if (end.at_ns > begin.at_ns) {
    line.uncertainty_ns = std::max(begin.offset.uncertainty_ns, end.offset.uncertainty_ns);
    line.drift = static_cast<double>(end.offset.offset_ns - begin.offset.offset_ns) /
                 static_cast<double>(end.at_ns - begin.at_ns);
  }
  if (line.drift == 0) line.since_ns = 0;
  return line;
}

Timeline gather_timeline(Communicator& ranks, const Timeline& mine, const ClockOffset& clock) {
  if (ranks.rank() != 0) {
    Timeline moved;
    moved.merge(mine, clock);
    send_text(ranks, to_json(moved));
    return {};
  }
  Timeline all = mine;
  for (int other = 1; other < ranks.size(); ++other) {
    all.merge(timeline_from_json(receive_text(ranks, other), fmt::format("rank {}", other)));
  }
  return all;
}

}  // namespace d5
