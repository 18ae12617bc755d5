// SPDX-License-Identifier: Apache-2.0
#include "prediction/simulation/message_board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level3_distributed/communicator/communication_call.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"

namespace d5::detail {
namespace {

/// The library's own collectives have the odd contexts.
bool is_librarys(int context) { return context % 2 == 1; }

std::string words(const MessageEnd& end) {
  return fmt::format("{} of {} bytes {} {}, tag {}", end.sends ? "send" : "receive",
                     end.data.bytes(), end.sends ? "to" : "from",
                     end.peer == kAnyRank ? "any rank" : fmt::format("rank {}", end.peer), end.tag);
}

}  // namespace

MessageBoard::MessageBoard(FiberScheduler& scheduler, std::shared_ptr<SimulatedNetwork> network,
                           const FoldedRanks& ranks, std::int64_t eager_bytes)
    : scheduler_(scheduler),
      network_(std::move(network)),
      folded_(ranks),
      eager_bytes_(eager_bytes),
      ranks_(static_cast<std::size_t>(ranks.members())) {
  if (!ranks.folds() || network_->fold(ranks.members())) return;
  throw RanksDiffer(fmt::format("simulation: the network has no {} ranks that are like all others",
                                ranks.members()));
}

bool MessageBoard::meet(const MessageEnd& send, const MessageEnd& receive) const {
  return send.context == receive.context && send.tag == receive.tag &&
         (receive.peer == kAnyRank ||
          folded_.meets(send.rank, send.peer, receive.peer, is_librarys(send.context)));
}

std::int64_t MessageBoard::new_flight(const std::shared_ptr<MessageEnd>& send) {
  ++messages_;
  largest_bytes_ = std::max(largest_bytes_, static_cast<std::int64_t>(send->data.bytes()));
  std::int64_t id = 0;
  if (free_flights_.empty()) {
    id = static_cast<std::int64_t>(flights_.size());
    flights_.emplace_back();
  } else {
    id = free_flights_.back();
    free_flights_.pop_back();
  }
  flights_[static_cast<std::size_t>(id)].send = send;
  return id;
}

void MessageBoard::let_go(std::int64_t id) {
  flights_[static_cast<std::size_t>(id)] = {};
  free_flights_.push_back(id);
}

void MessageBoard::start(std::int64_t id) {
  Flight& flight = flights_[static_cast<std::size_t>(id)];
  flight.started = true;
  const double now = scheduler_.current().time;
  count(*flight.send, 1, now);
  // Rounding must not put it before a change that the network has reported.
  network_->start({.id = id,
                   .from = flight.send->rank,
                   .to = flight.send->peer,
                   .bytes = static_cast<std::int64_t>(flight.send->data.bytes())},
                  std::max(clock_.network_time(now), reported_));
}

void MessageBoard::count(const MessageEnd& send, int more, double time) {
  for (const int rank : {send.rank, folded_.member(send.peer)}) {
    int& under_way = ranks_[static_cast<std::size_t>(rank)].under_way;
    under_way += more;
    const bool is_edge = under_way == (more > 0 ? 1 : 0);
    if (is_edge && told_) told_(rank, time);
  }
}

void MessageBoard::start_send(const std::shared_ptr<MessageEnd>& end) {
  const std::int64_t id = new_flight(end);
  Flight& flight = flights_[static_cast<std::size_t>(id)];
  Rank& to = ranks_[static_cast<std::size_t>(folded_.member(end->peer))];
  const auto receive =
      std::ranges::find_if(to.receives, [&](const auto& each) { return meet(*end, *each); });
  if (receive != to.receives.end()) {
    flight.receive = std::move(*receive);
    to.receives.erase(receive);
    deliver(flight);
    return start(id);
  }
  to.flights.push_back(id);
  if (static_cast<std::int64_t>(end->data.bytes()) > eager_bytes_) return;
  flight.kept = is_phantom(end->data) ? end->data : end->data.copy();
  start(id);
}

void MessageBoard::start_receive(const std::shared_ptr<MessageEnd>& end) {
  Rank& to = ranks_[static_cast<std::size_t>(end->rank)];
  const auto place = std::ranges::find_if(to.flights, [&](std::int64_t id) {
    return meet(*flights_[static_cast<std::size_t>(id)].send, *end);
  });
  if (place == to.flights.end()) return to.receives.push_back(end);
  const std::int64_t id = *place;
  to.flights.erase(place);
  Flight& flight = flights_[static_cast<std::size_t>(id)];
  flight.receive = end;
  deliver(flight);
  if (flight.arrived) return complete_receive(id, scheduler_.current().time);
  if (!flight.started) start(id);
}

void MessageBoard::deliver(Flight& flight) {
  MessageEnd& receive = *flight.receive;
  const Tensor& data = flight.kept.defined() ? flight.kept : flight.send->data;
  receive.from = folded_.folds() ? receive.peer : flight.send->rank;
  // A member's parts may be an element longer than those of a rank like it.
  receive.bytes = static_cast<std::int64_t>((folded_.folds() ? receive.data : data).bytes());
  const std::size_t bytes = std::min(data.bytes(), receive.data.bytes());
  if (bytes == 0) return;
  if (is_phantom(data) != is_phantom(receive.data)) {
    receive.error = std::make_exception_ptr(
        CommunicationError(fmt::format("rank {}: {}: one end is a phantom tensor and the other has "
                                       "elements; both must be of the same kind",
                                       receive.rank, words(receive))));
  } else if (!is_phantom(data)) {
    std::memcpy(receive.data.raw(), data.raw(), bytes);
  }
}

void MessageBoard::complete(MessageEnd& end, double time) {
  end.complete = true;
  end.time = time;
  if (auto* waiter = std::exchange(end.waiter, nullptr)) scheduler_.wake(*waiter, time);
  note_change(end.rank, time);
}

void MessageBoard::complete_receive(std::int64_t id, double time) {
  const auto receive = std::move(flights_[static_cast<std::size_t>(id)].receive);
  let_go(id);
  complete(*receive, time);
}

bool MessageBoard::advance(double limit) {
  if (!network_->advance(clock_.network_time(limit), changes_)) return false;
  // Before the clock changes, which counts of traffic may cause.
  for (auto& change : changes_) {
    reported_ = change.time;
    change.time = std::min(clock_.time(change.time), limit);
  }
  for (const auto& change : changes_) {
    Flight& flight = flights_[static_cast<std::size_t>(change.id)];
    if (change.what == SimulatedNetwork::What::sent) {
      complete(*flight.send, change.time);
      continue;
    }
    count(*flight.send, -1, change.time);
    if (flight.receive) {
      complete_receive(change.id, change.time);
    } else {
      flight.arrived = true;
    }
  }
  return true;
}

void MessageBoard::note_change(int rank, double time) {
  Rank& of = ranks_[static_cast<std::size_t>(rank)];
  ++of.changes;
  for (auto* strand : std::exchange(of.waiting, {})) scheduler_.wake(*strand, time);
}

void MessageBoard::wait_for_change() {
  auto& strand = scheduler_.current();
  scheduler_.catch_up();
  Rank& of = ranks_[static_cast<std::size_t>(strand.rank)];
  if (strand.seen == of.changes) {
    of.waiting.push_back(&strand);
    scheduler_.wait();
  }
  strand.seen = of.changes;
}

void MessageBoard::has_seen_changes() {
  auto& strand = scheduler_.current();
  strand.seen = ranks_[static_cast<std::size_t>(strand.rank)].changes;
}

bool MessageBoard::has_unmet() const {
  return std::ranges::any_of(
      ranks_, [](const Rank& rank) { return !rank.receives.empty() || !rank.flights.empty(); });
}

std::vector<std::string> MessageBoard::outstanding(int rank) const {
  std::vector<std::string> all;
  for (const auto& receive : ranks_[static_cast<std::size_t>(rank)].receives) {
    all.push_back(words(*receive));
  }
  for (const Flight& flight : flights_) {
    if (flight.send && flight.send->rank == rank && !flight.send->complete) {
      all.push_back(words(*flight.send));
    }
  }
  return all;
}

}  // namespace d5::detail
