// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "d5/core/trace/timeline.hpp"

namespace d5 {

/// What runs a rank's operations: its "compute", its "network" port, its "copy" engine, its data
/// "loader", or a user's own.
struct OperationLane {
  /// For `rank`: what all ranks share, such as a switch; or all ranks as one.
  static constexpr int kShared = -1;
  int rank = 0;
  std::string name;
  int width = 1;  ///< operations at a time; 0: any number
  bool operator==(const OperationLane&) const = default;
};

/// What an operation costs, before a cost model has made seconds of it: "an all-reduce of so many
/// bytes by this algorithm among so many ranks", the operation's kind being the first word.
struct CostRule {
  std::string algorithm;  ///< "ring"
  double bytes = 0;       ///< of one rank's data
  std::int64_t ranks = 1;
  bool operator==(const CostRule&) const = default;
};

/// One thing that takes time.
struct Operation {
  std::string name;
  std::string kind;  ///< one of `operation_kinds()`
  std::size_t lane = 0;
  double seconds = 0;
  /// Of what waits for a lane, the highest goes first; then what could have begun first.
  std::int64_t priority = 0;
  std::optional<CostRule> rule = {};
  std::vector<TraceArgument> attributes = {};  ///< any: {"bytes", 4096}, {"bucket", 3}
  bool operator==(const Operation&) const = default;
};

/// What has to be done, by whom, how long each takes, and what waits for what.
///
///     OperationGraph graph("step");
///     const auto compute = graph.lane(0, "compute"), port = graph.lane(0, "network");
///     const auto back = graph.add({"fc1", "backward", compute, 2e-3});
///     graph.add({"bucket 0", "all_reduce", port, 5e-3}, {back});
///     schedule(graph).seconds;  // 7e-3
///
/// Ids stay what they are, whatever is added or removed. Units: s, bytes.
/// Thread safety: for readers.
class OperationGraph {
 public:
  using Id = std::size_t;
  static constexpr Id kNone = std::numeric_limits<Id>::max();

  explicit OperationGraph(std::string name = {}) : name_(std::move(name)) {}
  [[nodiscard]] const std::string& name() const { return name_; }

  /// The lane of that rank and name, made if there is none. Throws: ValueError for another width
  /// than it has, or one below 0.
  std::size_t lane(int rank, std::string_view name, int width = 1);
  [[nodiscard]] const std::vector<OperationLane>& lanes() const { return lanes_; }

  /// Throws: NotFound for an unknown kind; ValueError for a lane that there is none of, a time or
  /// bytes that are negative or no number.
  Id add(Operation operation, std::span<const Id> after = {});
  Id add(Operation operation, std::initializer_list<Id> after) {
    return add(std::move(operation), std::span(after.begin(), after.size()));
  }
  /// `to` waits for `from`; twice is once. Throws: ValueError for an operation that would wait for
  /// itself. A longer circle is found by `check`.
  void add_edge(Id from, Id to);
  void remove_edge(Id from, Id to);

  /// Puts one on an edge, which it takes the place of. Throws: as `add`; ValueError if there is no
  /// such edge.
  Id insert(Operation operation, Id from, Id to);
  /// Makes several of it, in a row, with these shares of its time, bytes and rule; the first keeps
  /// its id. Throws: ValueError for no shares, or for ones that are not above 0 or not 1 together.
  std::vector<Id> split(Id id, std::span<const double> shares);
  /// Makes one of several, which has the first's name and id, and their times, bytes and edges
  /// together. Throws: ValueError for several lanes or kinds, or if it would wait for itself.
  Id merge(std::span<const Id> ids);
  /// Throws: ValueError for a time that is negative or no number.
  void retime(Id id, double seconds);
  /// What waited for it waits for what it waited for.
  void remove(Id id);
  /// To change what has no rule of its own: name, priority, attributes, rule.
  [[nodiscard]] Operation& edit(Id id);

  [[nodiscard]] std::size_t size() const { return nodes_.size() - removed_; }
  /// One above the highest id.
  [[nodiscard]] std::size_t id_end() const { return nodes_.size(); }
  [[nodiscard]] bool has(Id id) const { return id < nodes_.size() && !nodes_[id].removed; }
  [[nodiscard]] std::vector<Id> ids() const;
  /// Throws (all three): ValueError for an id that there is no operation of.
  [[nodiscard]] const Operation& operation(Id id) const { return node(id).operation; }
  [[nodiscard]] const std::vector<Id>& predecessors(Id id) const { return node(id).before; }
  [[nodiscard]] const std::vector<Id>& successors(Id id) const { return node(id).after; }
  [[nodiscard]] std::vector<Id> find(const std::function<bool(const Operation&)>& wanted) const;
  /// The first of that name; `kNone`.
  [[nodiscard]] Id find(std::string_view name) const;
  /// The sum of all times.
  [[nodiscard]] double total_seconds() const;

  /// An order in which nothing waits for a later one. Throws: ValueError that names a circle.
  [[nodiscard]] std::vector<Id> order() const;
  /// Throws: ValueError for operations that wait for each other in a circle, which it names.
  void check() const { (void)order(); }

 private:
  struct Node {
    Operation operation;
    std::vector<Id> before = {}, after = {};
    bool removed = false;
  };
  [[nodiscard]] const Node& node(Id id) const;
  [[nodiscard]] Node& node(Id id);
  void check(const Operation& operation) const;
  [[nodiscard]] std::string circle(const std::vector<std::size_t>& waiting) const;

  std::string name_;
  std::vector<OperationLane> lanes_;
  std::vector<Node> nodes_;
  std::size_t removed_ = 0;
};

/// Makes seconds of an operation that has a rule.
using CostModel = std::function<double(const Operation&)>;
/// Gives every operation that has a rule the time that `model` says. Throws: ValueError for a time
/// that is negative or no number; what the model throws.
void price(OperationGraph& graph, const CostModel& model);

}  // namespace d5
