// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/graph/operation_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/prediction/graph/operation_kind.hpp"

namespace d5 {
namespace {

std::string graph_words(const std::string& graph) {
  return fmt::format("graph of operations '{}'", printable(graph));
}

}  // namespace

std::size_t OperationGraph::lane(int rank, std::string_view name, int width) {
  const auto place = std::ranges::find_if(
      lanes_, [&](const OperationLane& lane) { return lane.rank == rank && lane.name == name; });
  if (width < 0 || rank < OperationLane::kShared ||
      (place != lanes_.end() && place->width != width)) {
    throw ValueError(fmt::format(
        "{}: lane '{}' of rank {} with width {}; expected a rank from {} on and {}",
        graph_words(name_), printable(name), rank, width, OperationLane::kShared,
        place == lanes_.end() ? std::string("a width of 0 or more")
                              : fmt::format("the width that it has, {}", place->width)));
  }
  if (place != lanes_.end()) return static_cast<std::size_t>(place - lanes_.begin());
  lanes_.push_back({rank, std::string(name), width});
  return lanes_.size() - 1;
}

void OperationGraph::check(const Operation& operation) const {
  if (!operation_kinds().find(operation.kind)) (void)operation_kinds().at(operation.kind);
  const auto is_amount = [](double value) { return std::isfinite(value) && value >= 0; };
  const bool rule_fits =
      !operation.rule || (is_amount(operation.rule->bytes) && operation.rule->ranks >= 1);
  if (operation.lane < lanes_.size() && is_amount(operation.seconds) && rule_fits) return;
  throw ValueError(fmt::format(
      "{}: operation '{}' on lane {} of {} takes {} s{}; expected a lane that `lane` "
      "gave, finite times and bytes of 0 or more, and one rank or more",
      graph_words(name_), printable(operation.name), operation.lane, lanes_.size(),
      operation.seconds,
      operation.rule
          ? fmt::format(", {} bytes among {} ranks", operation.rule->bytes, operation.rule->ranks)
          : ""));
}

OperationGraph::Id OperationGraph::add(Operation operation, std::span<const Id> after) {
  check(operation);
  for (const Id before : after) (void)node(before);
  nodes_.push_back({std::move(operation)});
  const Id id = nodes_.size() - 1;
  for (const Id before : after) add_edge(before, id);
  return id;
}

void OperationGraph::add_edge(Id from, Id to) {
  Node &first = node(from), &second = node(to);
  if (from == to) {
    throw ValueError(fmt::format("{}: operation '{}' would wait for itself", graph_words(name_),
                                 printable(first.operation.name)));
  }
  const bool there = first.after.size() < second.before.size()
                         ? std::ranges::find(first.after, to) != first.after.end()
                         : std::ranges::find(second.before, from) != second.before.end();
  if (there) return;
  first.after.push_back(to);
  second.before.push_back(from);
}

void OperationGraph::remove_edge(Id from, Id to) {
  std::erase(node(from).after, to);
  std::erase(node(to).before, from);
}

void OperationGraph::retime(Id id, double seconds) {
  Operation timed = node(id).operation;
  timed.seconds = seconds;
  check(timed);
  node(id).operation.seconds = seconds;
}

Operation& OperationGraph::edit(Id id) { return node(id).operation; }

const OperationGraph::Node& OperationGraph::node(Id id) const {
  if (!has(id)) {
    throw ValueError(fmt::format("{}: there is no operation {}; it has {}, with ids below {}",
                                 graph_words(name_), id, size(), nodes_.size()));
  }
  return nodes_[id];
}

OperationGraph::Node& OperationGraph::node(Id id) {
  return const_cast<Node&>(std::as_const(*this).node(id));
}

std::vector<OperationGraph::Id> OperationGraph::ids() const {
  return find([](const Operation&) { return true; });
}

std::vector<OperationGraph::Id> OperationGraph::find(
    const std::function<bool(const Operation&)>& wanted) const {
  std::vector<Id> found;
  for (Id id = 0; id < nodes_.size(); ++id) {
    if (!nodes_[id].removed && wanted(nodes_[id].operation)) found.push_back(id);
  }
  return found;
}

OperationGraph::Id OperationGraph::find(std::string_view name) const {
  for (Id id = 0; id < nodes_.size(); ++id) {
    if (!nodes_[id].removed && nodes_[id].operation.name == name) return id;
  }
  return kNone;
}

double OperationGraph::total_seconds() const {
  double sum = 0;
  for (const Node& each : nodes_) {
    if (!each.removed) sum += each.operation.seconds;
  }
  return sum;
}

void price(OperationGraph& graph, const CostModel& model) {
  for (const auto id : graph.find([](const Operation& each) { return each.rule.has_value(); })) {
    graph.retime(id, model(graph.operation(id)));
  }
}

}  // namespace d5
