// SPDX-License-Identifier: Apache-2.0
// Chakra execution traces: read, or refused. What was read is the same when it is written and read
// again, and is replayed.
#include "d5/core/errors/error.hpp"
#include "d5/prediction/graph/operation_graph_file.hpp"
#include "d5/prediction/traces/execution_trace.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/mutation.hpp"
#include "prediction/traces/chakra_bytes.hpp"

namespace d5::fuzz {
namespace {

using testing::NodeBytes;

/// The small trace with a few of its numbers otherwise, whole as a message: damage of bytes alone
/// seldom passes the lengths.
std::string with_other_nodes(RandomStream& random) {
  std::vector<NodeBytes> nodes = testing::small_nodes();
  const auto id = [&] {
    return one_in(random, 4) ? static_cast<std::uint64_t>(some_integer(random))
                             : static_cast<std::uint64_t>(between(random, 9, 14));
  };
  for (std::int64_t changes = between(random, 1, 4); changes > 0; --changes) {
    NodeBytes& node = nodes[std::size_t(random.below(nodes.size()))];
    switch (random.below(7)) {
      case 0:
        node.id = id();
        break;
      case 1:
        node.type = static_cast<int>(between(random, 0, 9));
        break;
      case 2:
        node.data.push_back(id());
        break;
      case 3:
        node.control.push_back(id());
        break;
      case 4:
        node.micros = static_cast<std::uint64_t>(some_integer(random));
        break;
      case 5:
        node.rest += testing::whole(one_in(random, 2) ? "comm_size" : "comm_type", id());
        break;
      default: {
        constexpr const char* kNames[] = {"d5_kind",  "d5_lane",  "d5_rank",    "d5_width",
                                          "d5_bytes", "d5_ranks", "d5_seconds", "d5_algorithm"};
        const std::string name = pick(random, kNames);
        node.rest += testing::attribute(
            name, one_in(random, 3)   ? testing::real(3, some_real(random))
                  : one_in(random, 2) ? testing::number(9, id())
                                      : testing::bytes(29, one_in(random, 2) ? "send" : "x"));
      }
    }
  }
  return testing::trace_bytes(nodes);
}

std::string words(const ChakraTrace& trace) { return to_json(trace.graph); }

}  // namespace

std::string name() { return "execution_trace"; }

void prepare() {}

std::string make_case(RandomStream& random) {
  const std::string bytes = with_other_nodes(random);
  return one_in(random, 2)   ? bytes
         : one_in(random, 2) ? with_flipped_bit(bytes, random)
                             : with_damage(bytes, random);
}

std::string run_case(const std::string& bytes) {
  const ChakraTrace trace = execution_trace_from_chakra(bytes, "case.3.et");
  const ChakraTrace again = execution_trace_from_chakra(to_chakra(trace), "case.3.et");
  if (words(again) != words(trace) || again.metadata != trace.metadata) {
    return "reads back otherwise";
  }
  (void)execution_trace_table(trace);
  PlannedTraining plan;
  plan.cluster.name = "one";
  plan.cluster.hosts = 8;
  plan.cluster.latency.value = 1e-6;
  plan.cluster.bandwidth.value = 1e9;
  const int ranks[] = {1, 4};
  for (const PredictedPoint& point : predict_execution_trace(trace, plan, ranks)) {
    if (!(point.step >= 0)) return "a step takes no time that can be";
  }
  return "";
}

}  // namespace d5::fuzz
