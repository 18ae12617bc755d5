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

/// A resource that runs a rank's operations: "compute", the "network" port, the "copy" engine, the
/// data "loader", or a user-defined one.
struct OperationLane {
  /// Value of `rank` for a lane of all ranks, such as a switch.
  static constexpr int kShared = -1;
  int rank = 0;
  std::string name;
  int width = 1;  ///< concurrent operations; 0: unlimited
  bool operator==(const OperationLane&) const = default;
};

/// The cost of an operation in symbolic form: algorithm, bytes and ranks. With the operation's kind
/// a cost model turns it into seconds.
struct CostRule {
  std::string algorithm;  ///< "ring"
  double bytes = 0;       ///< data of one rank
  std::int64_t ranks = 1;
  bool operator==(const CostRule&) const = default;
};

/// A node of the graph: an operation that takes time on a lane.
struct Operation {
  std::string name;
  std::string kind;  ///< one of `operation_kinds()`
  std::size_t lane = 0;
  double seconds = 0;
  /// If several operations wait for a lane, the one with the highest priority runs first, then the
  /// one that became ready first.
  std::int64_t priority = 0;
  std::optional<CostRule> rule = {};
  std::vector<TraceArgument> attributes = {};  ///< any: {"bytes", 4096}, {"bucket", 3}
  bool operator==(const Operation&) const = default;
};

/// A directed acyclic graph of operations with durations, lanes and dependencies.
///
///     OperationGraph graph("step");
///     const auto compute = graph.lane(0, "compute"), port = graph.lane(0, "network");
///     const auto back = graph.add({"fc1", "backward", compute, 2e-3});
///     graph.add({"bucket 0", "all_reduce", port, 5e-3}, {back});
///     schedule(graph).seconds;  // 7e-3
///
/// Ids remain valid when operations are added or removed. Units: s, bytes.
/// Thread safety: concurrent reads.
class OperationGraph {
 public:
  using Id = std::size_t;
  static constexpr Id kNone = std::numeric_limits<Id>::max();

  explicit OperationGraph(std::string name = {}) : name_(std::move(name)) {}
  [[nodiscard]] const std::string& name() const { return name_; }

  /// The lane of that rank and name; creates it if necessary. Throws: ValueError for a negative
  /// width or one other than the existing lane's.
  std::size_t lane(int rank, std::string_view name, int width = 1);
  [[nodiscard]] const std::vector<OperationLane>& lanes() const { return lanes_; }

  /// Adds an operation that waits for `after`. Throws: NotFound for an unknown kind; ValueError for
  /// an unknown lane, and for a time or bytes that are negative or NaN.
  Id add(Operation operation, std::span<const Id> after = {});
  Id add(Operation operation, std::initializer_list<Id> after) {
    return add(std::move(operation), std::span(after.begin(), after.size()));
  }
  /// Makes `to` wait for `from`; adding an edge again does nothing. Throws: ValueError for a
  /// self-loop. Longer cycles are found by `check`.
  void add_edge(Id from, Id to);
  void remove_edge(Id from, Id to);

  /// Replaces an edge by the operation with an edge on each side. Throws: as `add`; ValueError if
  /// there is no such edge.
  Id insert(Operation operation, Id from, Id to);
  /// Splits an operation into a chain with these shares of its time, bytes and rule; the first
  /// keeps its id. Throws: ValueError for no shares, and for shares that are not positive or do not
  /// sum to 1.
  std::vector<Id> split(Id id, std::span<const double> shares);
  /// Merges operations into one with the name and id of the first, the sums of their times and
  /// bytes, and all their edges. Throws: ValueError for different lanes or kinds, or if the result
  /// would wait for itself.
  Id merge(std::span<const Id> ids);
  /// Throws: ValueError for a time that is negative or NaN.
  void retime(Id id, double seconds);
  /// Removes an operation and connects its predecessors to its successors.
  void remove(Id id);
  /// Access for changing the name, priority, attributes and rule.
  [[nodiscard]] Operation& edit(Id id);

  [[nodiscard]] std::size_t size() const { return nodes_.size() - removed_; }
  /// One above the highest id.
  [[nodiscard]] std::size_t id_end() const { return nodes_.size(); }
  [[nodiscard]] bool has(Id id) const { return id < nodes_.size() && !nodes_[id].removed; }
  [[nodiscard]] std::vector<Id> ids() const;
  /// Throws (all three): ValueError for an unknown id.
  [[nodiscard]] const Operation& operation(Id id) const { return node(id).operation; }
  [[nodiscard]] const std::vector<Id>& predecessors(Id id) const { return node(id).before; }
  [[nodiscard]] const std::vector<Id>& successors(Id id) const { return node(id).after; }
  [[nodiscard]] std::vector<Id> find(const std::function<bool(const Operation&)>& wanted) const;
  /// The first operation of that name, or `kNone`.
  [[nodiscard]] Id find(std::string_view name) const;
  /// The sum of all times.
  [[nodiscard]] double total_seconds() const;

  /// A topological order. Throws: ValueError that names a cycle.
  [[nodiscard]] std::vector<Id> order() const;
  /// Throws: ValueError that names a cycle.
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

/// Computes the seconds of an operation that has a rule.
using CostModel = std::function<double(const Operation&)>;
/// Sets the time of every operation with a rule to that of `model`. Throws: ValueError for a time
/// that is negative or NaN; exceptions of the model.
void price(OperationGraph& graph, const CostModel& model);

}  // namespace d5
