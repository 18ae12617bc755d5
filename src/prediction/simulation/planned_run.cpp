// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/simulation/planned_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/prediction/networks/simulated_network.hpp"
#include "prediction/networks/event_queue.hpp"

namespace d5 {
namespace {

using Round = CollectivePlan::Round;

/// A message, from its send or its receive on.
struct Flight {
  int from = 0, to = 0;
  std::int64_t bytes = 0;
  bool started = false, arrived = false;
  int receive = -1;  ///< place in the receiver's round; -1: its receive is not posted yet
};

/// A rank in its rounds, and what it does next.
struct Rank {
  enum class Stage { post, send, free_sends, take, end_sends, done };
  PlannedRounds rounds = {};
  Round round = {};
  std::size_t index = 0;  ///< number of the round
  Stage stage = Stage::post;
  std::size_t at = 0;  ///< next send or receive of the stage
  double time = 0, begun = 0;
  bool waits = false, is_at_send = false;
  std::size_t sends = 0;                       ///< under way
  std::vector<bool> matched = {}, taken = {};  ///< by receive; taken: its message has arrived
  std::vector<std::size_t> early = {};         ///< messages to it without a receive
};

class RoundsRun {
 public:
  RoundsRun(int ranks, const ClusterDescription& cluster,
            const std::function<PlannedRounds(int)>& rounds_of_rank, std::int64_t element_bytes,
            const SimulationOptions& options)
      : network_(find_simulated_network(options.model.name)
                     .make(cluster, ranks, options.model.settings)),
        overhead_(cluster.overhead.value),
        end_seconds_per_byte_(cluster.end_bandwidth.value > 0 ? 1 / cluster.end_bandwidth.value
                                                              : 0),
        element_bytes_(element_bytes),
        options_(options),
        ranks_(static_cast<std::size_t>(ranks)) {
    for (int rank = 0; rank < ranks; ++rank) {
      at(rank).rounds = rounds_of_rank(rank);
      now_.push_back(rank);
    }
  }

  SimulationReport run() {
    const double begin = now_seconds();
    constexpr std::int64_t kBetween = 1 << 16;  // looks at the clock
    std::int64_t turns = 0;
    while (done_ < ranks_.size()) {
      if (++turns % kBetween == 0 && options_.most_wall_seconds > 0 &&
          now_seconds() - begin > options_.most_wall_seconds) {
        report_.stopped =
            fmt::format("the limit of {} s of real time was reached", options_.most_wall_seconds);
        break;
      }
      if (network_->advance(earliest(), changes_)) {
        for (const auto& change : changes_) take(change);
      } else if (next_ < now_.size()) {
        const int rank = now_[next_++];
        if (next_ == now_.size()) {
          now_.clear();
          next_ = 0;
        }
        go_on(rank);
      } else if (!later_.empty()) {
        clock_ = later_.time();
        go_on(later_.take());
      } else {
        throw CommunicationError(
            fmt::format("rounds of {} ranks: {} wait for messages that none sends", ranks_.size(),
                        ranks_.size() - done_));
      }
    }
    for (const Rank& rank : ranks_) {
      report_.rank_seconds.push_back(rank.time);
      report_.seconds = std::max(report_.seconds, rank.time);
    }
    report_.wall_seconds = now_seconds() - begin;
    return std::move(report_);
  }

 private:
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  std::int64_t bytes_of(ElementRange range) const { return range.size() * element_bytes_; }

  void wake(int rank, double time) {
    at(rank).time = std::max(at(rank).time, time);
    if (at(rank).time <= clock_ && (later_.empty() || later_.time() > clock_)) {
      now_.push_back(rank);
    } else {
      later_.add(at(rank).time, rank);
    }
  }

  /// The time of the next rank that goes on.
  [[nodiscard]] double earliest() const {
    return next_ < now_.size() ? clock_
           : later_.empty()    ? std::numeric_limits<double>::infinity()
                               : later_.time();
  }

  /// Whether the rank has to come back at its own time, because others are earlier.
  bool is_ahead(int rank) {
    while (at(rank).time <= earliest()) {
      if (!network_->advance(at(rank).time, changes_)) {
        clock_ = std::max(clock_, at(rank).time);
        return false;
      }
      for (const auto& change : changes_) take(change);
    }
    later_.add(at(rank).time, rank);
    return true;
  }

  void go_on(int index) {
    Rank& rank = at(index);
    using enum Rank::Stage;
    for (;;) {
      switch (rank.stage) {
        case post:
          if (rank.index == rank.rounds.count) {
            rank.stage = done;
            ++done_;
            return;
          }
          if (is_ahead(index)) return;
          begin_round(index);
          rank.stage = send;
          break;
        case send:
          if (!send_next(index)) return;
          break;
        case free_sends:
          if (rank.sends > 0) return wait(rank);
          rank.stage = take;
          rank.at = 0;
          rank.begun = rank.time;
          break;
        case take:
          if (!take_next(rank)) return;
          break;
        case end_sends:
          if (rank.sends > 0) return wait(rank);
          ++rank.index;
          rank.stage = post;
          break;
        case done:
          return;
      }
    }
  }

  static void wait(Rank& rank) { rank.waits = true; }

  void begin_round(int index) {
    Rank& rank = at(index);
    rank.round = rank.rounds.round(rank.index);
    rank.at = 0;
    rank.matched.assign(rank.round.receives.size(), false);
    rank.taken = rank.matched;
    for (std::size_t i = 0; i < rank.round.receives.size(); ++i) {
      const auto early = std::ranges::find_if(rank.early, [&](std::size_t flight) {
        return flights_[flight].from == rank.round.receives[i].from;
      });
      if (early == rank.early.end()) continue;
      const std::size_t id = *early;
      rank.early.erase(early);
      match(id, i);
      if (!flights_[id].started) start(id, rank.time);
    }
  }

  void match(std::size_t id, std::size_t receive) {
    Flight& flight = flights_[id];
    Rank& to = at(flight.to);
    to.matched[receive] = true;
    flight.receive = static_cast<int>(receive);
    if (!flight.arrived) return;
    to.taken[receive] = true;
    free_.push_back(id);
  }

  void start(std::size_t id, double time) {
    Flight& flight = flights_[id];
    flight.started = true;
    network_->start({.id = static_cast<std::int64_t>(id),
                     .from = flight.from,
                     .to = flight.to,
                     .bytes = flight.bytes},
                    time);
  }

  /// Starts the next send of the round. Returns: whether the rank goes on now.
  bool send_next(int index) {
    Rank& rank = at(index);
    if (rank.at == rank.round.sends.size()) {
      rank.stage = sends_what_it_reduces(rank.round) ? Rank::Stage::free_sends : Rank::Stage::take;
      rank.at = 0;
      rank.begun = rank.time;
      return true;
    }
    if (!std::exchange(rank.is_at_send, true)) rank.time += overhead_;
    if (is_ahead(index)) return false;
    rank.is_at_send = false;
    const auto& [to, range] = rank.round.sends[rank.at++];
    const std::size_t id = new_flight();
    flights_[id] = {.from = index, .to = to, .bytes = bytes_of(range)};
    ++report_.messages;
    report_.largest_bytes = std::max(report_.largest_bytes, flights_[id].bytes);
    ++rank.sends;
    Rank& receiver = at(to);
    const bool has_posted = receiver.stage != Rank::Stage::post;
    const std::size_t receives = has_posted ? receiver.round.receives.size() : 0;
    std::size_t receive = 0;
    while (receive < receives &&
           (receiver.matched[receive] || receiver.round.receives[receive].from != index)) {
      ++receive;
    }
    const bool is_met = receive < receives;
    if (is_met) {
      match(id, receive);
    } else {
      receiver.early.push_back(id);
    }
    if (is_met || flights_[id].bytes <= options_.eager_bytes) start(id, rank.time);
    rank.time += static_cast<double>(flights_[id].bytes) * end_seconds_per_byte_;
    return true;
  }

  /// Takes the next receive of the round. Returns: whether the rank goes on now.
  bool take_next(Rank& rank) {
    if (rank.at == rank.round.receives.size()) {
      rank.stage = Rank::Stage::end_sends;
      return true;
    }
    if (!rank.taken[rank.at]) {
      wait(rank);
      return false;
    }
    const auto bytes = static_cast<double>(bytes_of(rank.round.receives[rank.at].range));
    rank.time = std::max(rank.time, rank.begun + bytes * end_seconds_per_byte_) + overhead_;
    rank.begun = rank.time;
    ++rank.at;
    return true;
  }

  void take(const SimulatedNetwork::Change& change) {
    clock_ = change.time;
    const auto id = static_cast<std::size_t>(change.id);
    Flight& flight = flights_[id];
    if (change.what == SimulatedNetwork::What::sent) {
      Rank& from = at(flight.from);
      --from.sends;
      if (from.stage == Rank::Stage::free_sends || from.stage == Rank::Stage::end_sends) {
        come_back(flight.from, change.time);
      }
      return;
    }
    flight.arrived = true;
    if (flight.receive < 0) return;
    const int to = flight.to;
    const auto receive = static_cast<std::size_t>(flight.receive);
    at(to).taken[receive] = true;
    free_.push_back(id);
    if (at(to).stage == Rank::Stage::take && at(to).at == receive) come_back(to, change.time);
  }

  void come_back(int rank, double time) {
    if (std::exchange(at(rank).waits, false)) wake(rank, time);
  }

  std::size_t new_flight() {
    if (free_.empty()) {
      flights_.emplace_back();
      return flights_.size() - 1;
    }
    const std::size_t id = free_.back();
    free_.pop_back();
    return id;
  }

  std::shared_ptr<SimulatedNetwork> network_;
  double overhead_, end_seconds_per_byte_;
  std::int64_t element_bytes_;
  const SimulationOptions& options_;
  std::vector<Rank> ranks_;
  std::vector<Flight> flights_;
  std::vector<std::size_t> free_;  ///< flights that have arrived
  std::vector<int> now_;           ///< ranks that go on at the clock's time, from `next_` on
  std::size_t next_ = 0;
  detail::EventQueue<int> later_;
  double clock_ = 0;
  std::size_t done_ = 0;
  std::vector<SimulatedNetwork::Change> changes_;
  SimulationReport report_;
};

}  // namespace

SimulationReport simulate_rounds(int ranks, const ClusterDescription& cluster,
                                 const std::function<PlannedRounds(int)>& rounds_of_rank,
                                 std::int64_t element_bytes, const SimulationOptions& options) {
  if (ranks < 1) {
    throw ValueError(fmt::format("{} simulated ranks; expected 1 or more", ranks));
  }
  return RoundsRun(ranks, cluster, rounds_of_rank, element_bytes, options).run();
}

}  // namespace d5
