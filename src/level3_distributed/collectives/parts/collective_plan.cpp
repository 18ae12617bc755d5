// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/collective_plan.hpp"

#include <algorithm>

#include "d5/level3_distributed/communicator/communication_schedule.hpp"

namespace d5 {
namespace {

using Then = CollectivePlan::Then;
using Round = CollectivePlan::Round;

bool overlap(ElementRange a, ElementRange b) { return a.begin < b.end && b.begin < a.end; }

/// Elements received for reduction in the largest round.
std::int64_t scratch_elements(const CollectivePlan& plan) {
  std::int64_t most = 0;
  for (const auto& round : plan.rounds) {
    std::int64_t sum = 0;
    for (const auto& receive : round.receives) {
      if (receive.then != Then::keep) sum += receive.range.size();
    }
    most = std::max(most, sum);
  }
  return most;
}

void reduce(Communicator& ranks, Tensor target, Tensor arrived, Then then, Reduction reduction) {
  // A sum has the same bits in either order. For +0 and -0, or a NaN, the maximum depends on the
  // order.
  if (then == Then::reduce_incoming_first && reduction != Reduction::sum) {
    ranks.reduce_local(arrived, target, reduction);
    ranks.copy_local(target, arrived);
  } else {
    ranks.reduce_local(target, arrived, reduction);
  }
}

CommunicationSchedule follow(Communicator& ranks, PlannedRounds rounds, Tensor data,
                             Reduction reduction, int tag, std::function<void()> finish) {
  const auto view = [&](ElementRange range) { return data.slice(range.begin, range.end); };
  Tensor scratch = ranks.scratch({data.dtype(), {rounds.scratch_elements}}, data);
  for (std::size_t index = 0; index < rounds.count; ++index) {
    const Round round = rounds.round(index);
    std::vector<Tensor> arriving;
    std::vector<std::unique_ptr<Request>> receives, sends;
    std::int64_t used = 0;
    for (const auto& [from, range, then] : round.receives) {
      arriving.push_back(then == Then::keep ? view(range)
                                            : scratch.slice(used, used + range.size()));
      if (then != Then::keep) used += range.size();
      receives.push_back(ranks.start_receive(arriving.back(), from, tag));
    }
    for (const auto& [to, range] : round.sends) {
      sends.push_back(ranks.start_send(view(range), to, tag));
    }
    if (sends_what_it_reduces(round)) co_await sends;
    for (std::size_t i = 0; i < receives.size(); ++i) {  // later receives arrive meanwhile
      co_await receives[i];
      const auto& [from, range, then] = round.receives[i];
      if (then != Then::keep) reduce(ranks, view(range), arriving[i], then, reduction);
    }
    co_await sends;
  }
  if (finish) finish();
}

}  // namespace

bool sends_what_it_reduces(const Round& round) {
  return std::ranges::any_of(round.receives, [&](const auto& receive) {
    return std::ranges::any_of(
        round.sends, [&](const auto& send) { return overlap(receive.range, send.range); });
  });
}

CollectivePlan::Round& CollectivePlan::round(std::size_t index) {
  if (index >= rounds.size()) rounds.resize(index + 1);
  return rounds[index];
}

Traffic::Line CollectivePlan::volume(std::int64_t element_bytes) const {
  Traffic::Line line;
  for (const auto& [sends, receives] : rounds) {
    line.calls += std::int64_t(sends.size() + receives.size());
    for (const auto& send : sends) line.bytes_sent += send.range.size() * element_bytes;
    for (const auto& receive : receives) {
      line.bytes_received += receive.range.size() * element_bytes;
    }
  }
  return line;
}

PlannedRounds rounds_of(CollectivePlan plan) {
  const std::int64_t scratch = scratch_elements(plan);
  const std::size_t count = plan.rounds.size();
  return {.count = count,
          .round = [plan = std::move(plan)](std::size_t index) { return plan.rounds[index]; },
          .scratch_elements = scratch};
}

std::unique_ptr<Request> start_plan(Communicator& ranks, PlannedRounds rounds, const Tensor& data,
                                    Reduction reduction, std::function<void()> finish,
                                    std::optional<std::int64_t> chunk_bytes) {
  return run_schedule(ranks,
                      follow(ranks, std::move(rounds), data.reshaped({data.elements()}), reduction,
                             ranks.own_tag(), std::move(finish)),
                      {.chunk_bytes = chunk_bytes});
}

}  // namespace d5
