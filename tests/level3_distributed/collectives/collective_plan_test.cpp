// SPDX-License-Identifier: Apache-2.0
// Plans executed for all ranks by one process, on symbols instead of numbers: for any number of
// ranks, with a trace of the additions.
#include "d5/level3_distributed/collectives/collective_plan.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "d5/level3_distributed/collectives/planned_collective.hpp"

using namespace d5;

namespace {

/// An element: the ranks that contributed to it, and the order of the operations.
struct Symbol {
  std::multiset<int> of;
  std::string order;
  bool operator==(const Symbol&) const = default;
};
using Buffer = std::vector<Symbol>;

Symbol together(const Symbol& a, const Symbol& b) {
  Symbol sum{a.of, "(" + a.order + "+" + b.order + ")"};
  sum.of.insert(b.of.begin(), b.of.end());
  return sum;
}

Symbol own(int rank) { return {{rank}, std::to_string(rank)}; }

/// Messages wait for their receiver; a rank goes on when its round has all. Rounds of a sum are
/// compared by their operands, whichever comes first: + commutes.
class AllRanks {
 public:
  AllRanks(std::vector<CollectivePlan> plans, std::vector<Buffer> buffers)
      : plans_(std::move(plans)), buffers_(std::move(buffers)), at_(plans_.size(), 0) {}

  /// False if they wait for each other for ever, or a message is left.
  bool run() {
    for (std::size_t r = 0; r < plans_.size(); ++r) send(int(r));
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < plans_.size(); ++r) moved = advance(int(r)) || moved;
    }
    for (std::size_t r = 0; r < plans_.size(); ++r) {
      if (at_[r] != plans_[r].rounds.size()) return false;
    }
    return std::ranges::all_of(wires_, [](const auto& wire) { return wire.second.empty(); });
  }
  [[nodiscard]] const std::vector<Buffer>& buffers() const { return buffers_; }

 private:
  void send(int rank) {
    const auto r = std::size_t(rank);
    if (at_[r] == plans_[r].rounds.size()) return;
    for (const auto& [to, range] : plans_[r].rounds[at_[r]].sends) {
      const Buffer& buffer = buffers_[r];
      wires_[{rank, to}].emplace_back(buffer.begin() + range.begin, buffer.begin() + range.end);
    }
  }

  bool advance(int rank) {
    const auto r = std::size_t(rank);
    if (at_[r] == plans_[r].rounds.size()) return false;
    const auto& receives = plans_[r].rounds[at_[r]].receives;
    std::map<int, std::size_t> needed;
    for (const auto& receive : receives) ++needed[receive.from];
    for (const auto& [from, number] : needed) {
      if (wires_[{from, rank}].size() < number) return false;
    }
    for (const auto& [from, range, then] : receives) {
      auto& wire = wires_[{from, rank}];
      const Buffer message = wire.front();
      wire.pop_front();
      REQUIRE(std::int64_t(message.size()) == range.size());
      for (std::int64_t i = 0; i < range.size(); ++i) {
        Symbol& target = buffers_[r][std::size_t(range.begin + i)];
        const Symbol& incoming = message[std::size_t(i)];
        using Then = CollectivePlan::Then;
        target = then == Then::keep     ? incoming
                 : then == Then::reduce ? together(target, incoming)
                                        : together(incoming, target);
      }
    }
    ++at_[r];
    send(rank);
    return true;
  }

  std::vector<CollectivePlan> plans_;
  std::vector<Buffer> buffers_;
  std::vector<std::size_t> at_;
  std::map<std::pair<int, int>, std::deque<Buffer>> wires_;
};

/// Executes the plans of `plan_of` for `ranks` ranks.
std::vector<Buffer> carried_out(int ranks, const std::function<CollectivePlan(int)>& plan_of,
                                const std::function<Buffer(int)>& start) {
  std::vector<CollectivePlan> plans;
  std::vector<Buffer> buffers;
  for (int r = 0; r < ranks; ++r) {
    plans.push_back(plan_of(r));
    buffers.push_back(start(r));
  }
  AllRanks all(std::move(plans), std::move(buffers));
  REQUIRE(all.run());
  return all.buffers();
}

std::multiset<int> each_once(int ranks) {
  std::multiset<int> all;
  for (int r = 0; r < ranks; ++r) all.insert(r);
  return all;
}

/// The algorithms of a registry that are plans, some with small segments.
template <class Planned, class Registered>
std::vector<std::pair<std::string, std::shared_ptr<Planned>>> planned(const Registered& registry) {
  std::vector<std::pair<std::string, std::shared_ptr<Planned>>> found;
  for (const auto& [name, entry] : registry.entries()) {
    Settings settings;
    if (entry.has_option("segment_bytes")) settings.set("segment_bytes", std::int64_t(8));
    if (auto one = std::dynamic_pointer_cast<Planned>(entry.make(settings))) {
      found.emplace_back(name, one);
    }
  }
  return found;
}

constexpr int kMostRanks = 17;

}  // namespace

TEST_CASE("every plan of an all-reduce has each rank's value once in every sum, on 1 to 17 ranks") {
  const auto all = planned<PlannedAllReduce>(all_reduces());
  REQUIRE(all.size() >= 6);
  for (const auto& [name, one] : all) {
    for (int n = 1; n <= kMostRanks; ++n) {
      for (const int elements : {0, 1, 7, 40}) {
        INFO(name << " of " << elements << " elements on " << n << " ranks");
        const auto buffers = carried_out(
            n,
            [&](int rank) { return one->plan({.rank = rank, .ranks = n, .elements = elements}); },
            [&](int rank) { return Buffer(std::size_t(elements), own(rank)); });
        for (const Buffer& buffer : buffers) {
          CHECK(buffer == buffers.front());  // the order of operands too
          for (const Symbol& symbol : buffer) REQUIRE(symbol.of == each_once(n));
        }
      }
    }
  }
}

TEST_CASE("every plan of a broadcast brings the root's value to all, from any root") {
  const auto all = planned<PlannedBroadcast>(broadcasts());
  REQUIRE(all.size() >= 3);
  for (const auto& [name, one] : all) {
    for (int n = 1; n <= kMostRanks; ++n) {
      for (int root = 0; root < n; root += 3) {
        INFO(name << " from rank " << root << " of " << n);
        const auto buffers = carried_out(
            n,
            [&](int rank) {
              return one->plan({.rank = rank, .ranks = n, .elements = 23, .root = root});
            },
            [&](int rank) { return Buffer(23, own(rank)); });
        for (const Buffer& buffer : buffers) CHECK(buffer == Buffer(23, own(root)));
      }
    }
  }
}

TEST_CASE("every plan of a reduce-scatter sums each rank's part there, parts of any size") {
  const auto all = planned<PlannedReduceScatter>(reduce_scatters());
  REQUIRE(all.size() >= 3);
  for (const auto& [name, one] : all) {
    for (int n = 1; n <= kMostRanks; ++n) {
      INFO(name << " on " << n << " ranks");
      RankCounts counts;
      for (int r = 0; r < n; ++r) counts.push_back((r * 5) % 4);
      const Parts parts(counts);
      const auto buffers = carried_out(
          n, [&](int rank) { return one->plan(rank, parts); },
          [&](int rank) { return Buffer(std::size_t(parts.elements()), own(rank)); });
      for (int r = 0; r < n; ++r) {
        const ElementRange range = parts[r];
        for (std::int64_t i = range.begin; i < range.end; ++i) {
          REQUIRE(buffers[std::size_t(r)][std::size_t(i)].of == each_once(n));
        }
      }
    }
  }
}

TEST_CASE("every plan of an all-gather brings every part to all, parts of any size") {
  const auto all = planned<PlannedAllGather>(all_gathers());
  REQUIRE(all.size() >= 3);
  for (const auto& [name, one] : all) {
    for (int n = 1; n <= kMostRanks; ++n) {
      INFO(name << " on " << n << " ranks");
      RankCounts counts;
      for (int r = 0; r < n; ++r) counts.push_back((r * 5) % 4);
      const Parts parts(counts);
      const auto first = [&](int rank) {
        return one->order() == PlannedAllGather::Order::from_mine ? rank : 0;
      };
      const auto filled = [&](int rank, bool all_parts) {
        Buffer buffer;
        for (int p = 0; p < n; ++p) {
          const int owner = (first(rank) + p) % n;
          const Symbol symbol = all_parts || owner == rank ? own(owner) : Symbol{};
          buffer.insert(buffer.end(), std::size_t(parts[owner].size()), symbol);
        }
        return buffer;
      };
      const auto buffers = carried_out(
          n, [&](int rank) { return one->plan(rank, parts); },
          [&](int rank) { return filled(rank, false); });
      for (int r = 0; r < n; ++r) CHECK(buffers[std::size_t(r)] == filled(r, true));
    }
  }
}
