// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/prediction/graph/operation_graph.hpp"

namespace d5 {
namespace {

constexpr const char* kBytes = "bytes";

void scale_bytes(Operation& operation, double share) {
  if (operation.rule) operation.rule->bytes *= share;
  for (TraceArgument& attribute : operation.attributes) {
    if (attribute.name != kBytes) continue;
    if (auto* whole = std::get_if<std::int64_t>(&attribute.value)) {
      *whole = std::llround(static_cast<double>(*whole) * share);
    } else if (auto* real = std::get_if<double>(&attribute.value)) {
      *real *= share;
    }
  }
}

/// Adds numeric attributes of the same type.
void add_bytes(Operation& to, const Operation& from) {
  if (to.rule && from.rule) to.rule->bytes += from.rule->bytes;
  for (TraceArgument& attribute : to.attributes) {
    const auto other = std::ranges::find(from.attributes, attribute.name, &TraceArgument::name);
    if (attribute.name != kBytes || other == from.attributes.end()) continue;
    auto* whole = std::get_if<std::int64_t>(&attribute.value);
    auto* real = std::get_if<double>(&attribute.value);
    if (const auto* more = std::get_if<std::int64_t>(&other->value); whole && more) *whole += *more;
    if (const auto* more = std::get_if<double>(&other->value); real && more) *real += *more;
  }
}

}  // namespace

OperationGraph::Id OperationGraph::insert(Operation operation, Id from, Id to) {
  const auto& after = successors(from);
  if (std::ranges::find(after, to) == after.end()) {
    throw ValueError(fmt::format(
        "graph of operations '{}': '{}' is to be inserted between '{}' and '{}', but the second "
        "does not wait for the first; add it and its edges",
        printable(name_), printable(operation.name), printable(node(from).operation.name),
        printable(this->operation(to).name)));
  }
  const Id id = add(std::move(operation), {from});
  remove_edge(from, to);
  add_edge(id, to);
  return id;
}

std::vector<OperationGraph::Id> OperationGraph::split(Id id, std::span<const double> shares) {
  constexpr double kRounding = 1e-9;  // shares such as a third are not exact
  const Operation whole = operation(id);
  double sum = 0;
  for (const double share : shares) sum += share > 0 ? share : NAN;
  if (!(std::abs(sum - 1) <= kRounding)) {
    throw ValueError(
        fmt::format("graph of operations '{}': '{}' is to be split into {} shares, which sum to "
                    "{}; expected positive shares that sum to 1",
                    printable(name_), printable(whole.name), shares.size(), sum));
  }
  std::vector<Id> parts{id};
  const std::vector<Id> after = successors(id);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    Operation part = whole;
    if (shares.size() > 1) part.name = fmt::format("{}.{}", whole.name, i);
    part.seconds *= shares[i];
    scale_bytes(part, shares[i]);
    if (i == 0) {
      node(id).operation = std::move(part);
    } else {
      parts.push_back(add(std::move(part), {parts.back()}));
    }
  }
  if (parts.size() == 1) return parts;
  for (const Id next : after) {
    remove_edge(id, next);
    add_edge(parts.back(), next);
  }
  return parts;
}

OperationGraph::Id OperationGraph::merge(std::span<const Id> ids) {
  const std::set<Id> group(ids.begin(), ids.end());
  const auto refuse = [&](const std::string& why) {
    throw ValueError(fmt::format("graph of operations '{}': {} operations cannot become one: {}",
                                 printable(name_), group.size(), why));
  };
  if (group.empty()) refuse("the list is empty; expected one or more");
  const Operation first = operation(ids.front());
  for (const Id id : group) {
    const Operation& each = operation(id);
    if (each.lane == first.lane && each.kind == first.kind &&
        each.rule.has_value() == first.rule.has_value()) {
      continue;
    }
    refuse(fmt::format("'{}' is {} on lane {}, '{}' {} on lane {}; expected one kind, one lane",
                       printable(first.name), first.kind, first.lane, printable(each.name),
                       each.kind, each.lane));
  }
  // No path from a successor outside the group may lead back into it.
  std::vector<Id> reached;
  std::vector<bool> seen(nodes_.size());
  const auto reach = [&](Id from) {
    for (const Id next : nodes_[from].after) {
      if (!seen[next] && !group.contains(next)) reached.push_back(next);
      if (!group.contains(next)) seen[next] = true;
    }
  };
  for (const Id id : group) reach(id);
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const Id next : nodes_[reached[i]].after) {
      if (!group.contains(next)) continue;
      refuse(fmt::format("'{}' waits for '{}', which waits for one of them",
                         printable(nodes_[next].operation.name),
                         printable(nodes_[reached[i]].operation.name)));
    }
    reach(reached[i]);
  }
  const Id kept = ids.front();
  for (const Id id : group) {
    if (id == kept) continue;
    const Node other = node(id);
    node(kept).operation.seconds += other.operation.seconds;
    add_bytes(node(kept).operation, other.operation);
    for (const Id before : other.before) {
      remove_edge(before, id);
      if (!group.contains(before)) add_edge(before, kept);
    }
    for (const Id after : other.after) {
      remove_edge(id, after);
      if (!group.contains(after)) add_edge(kept, after);
    }
    node(id).removed = true;
    ++removed_;
  }
  return kept;
}

void OperationGraph::remove(Id id) {
  const Node gone = node(id);
  for (const Id before : gone.before) remove_edge(before, id);
  for (const Id after : gone.after) {
    remove_edge(id, after);
    for (const Id before : gone.before) add_edge(before, after);
  }
  node(id).removed = true;
  ++removed_;
}

}  // namespace d5
