// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <tuple>

#include "d5/core/results/results.hpp"
#include "d5/prediction/graph/operation_kind.hpp"
#include "d5/prediction/graph/operation_schedule.hpp"
#include "d5/prediction/traces/execution_trace.hpp"
#include "prediction/traces/chakra_attributes.hpp"

namespace d5 {
namespace {

struct Amount {
  std::size_t number = 0;
  double seconds = 0, bytes = 0;
};

}  // namespace

TextTable execution_trace_table(const ChakraTrace& trace) {
  using enum TextTable::Align;
  const OperationGraph& graph = trace.graph;
  std::map<std::pair<std::size_t, std::string>, Amount> amounts;  // by lane, then by kind
  std::size_t data = 0, control = 0;
  for (const auto id : graph.ids()) {
    const Operation& operation = graph.operation(id);
    Amount& amount = amounts[{operation.lane, operation.kind}];
    ++amount.number;
    amount.seconds += operation.seconds;
    const bool communicates = operation_kinds().at(operation.kind).communicates;
    if (operation.rule) {
      amount.bytes += operation.rule->bytes;
    } else if (communicates) {
      amount.bytes += static_cast<double>(
          chakra::whole_attribute(operation.attributes, "comm_size").value_or(0));
    }
    data += graph.predecessors(id).size();
    control += chakra::numbers_of(operation.attributes, chakra::kControl).size();
  }
  TextTable table({"what", "lane", {"number", right}, {"bytes", right}, {"recorded", right}});
  for (const auto& [place, amount] : amounts) {
    table.add({place.second, graph.lanes()[place.first].name, fmt::format("{}", amount.number),
               amount.bytes > 0 ? with_prefix(amount.bytes, "byte") : "",
               with_prefix(amount.seconds, "s")});
  }
  table.add({"edges of the graph", "", fmt::format("{}", data), "", ""});
  table.add({"control dependencies", "", fmt::format("{}", control), "", ""});
  table.add({"replay", "", fmt::format("{}", graph.size()), "",
             with_prefix(schedule(graph).seconds, "s")});
  return table;
}

}  // namespace d5
