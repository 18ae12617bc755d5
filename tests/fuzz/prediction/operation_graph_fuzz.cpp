// SPDX-License-Identifier: Apache-2.0
// Graphs of operations: read, or refused. What was read is the same when it is read again, is
// drawn, and scheduled.
#include "d5/core/errors/error.hpp"
#include "d5/prediction/graph/operation_graph_file.hpp"
#include "d5/prediction/graph/operation_schedule.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/json_damage.hpp"
#include "fuzz/mutation.hpp"

namespace d5::fuzz {
namespace {

const std::string& sound() {
  static const std::string text = [] {
    OperationGraph graph("a \"small\" one");
    const auto compute = graph.lane(0, "compute");
    const auto network = graph.lane(OperationLane::kShared, "network", 2);
    const auto load = graph.add({"load", "load", compute, 1});
    const auto forward = graph.add({"fc<1>", "forward", compute, 0.1}, {load});
    const auto back = graph.add({"fc<1>", "backward", compute, 0.2}, {forward});
    graph.add({"bucket 0",
               "all_reduce",
               network,
               1.0 / 3,
               -4,
               CostRule{"ring", 1e9, 8},
               {{"bytes", std::int64_t{1} << 40}, {"share", 2.0}, {"text", "x"}}},
              {back, forward});
    return to_json(graph);
  }();
  return text;
}

}  // namespace

std::string name() { return "operation_graph"; }

void prepare() { (void)sound(); }

std::string make_case(RandomStream& random) {
  return one_in(random, 8) ? with_damage(sound(), random) : with_other_values(sound(), random);
}

std::string run_case(const std::string& text) {
  const OperationGraph graph = operation_graph_from_json(text, "case.json");
  const std::string once = to_json(graph);
  if (to_json(operation_graph_from_json(once, "again.json")) != once) return "reads back otherwise";
  (void)to_dot(graph);
  (void)to_svg(graph);
  return schedule(graph).seconds >= 0 ? "" : "it takes no time";
}

}  // namespace d5::fuzz
