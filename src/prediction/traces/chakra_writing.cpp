// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/prediction/graph/operation_kind.hpp"
#include "d5/prediction/traces/execution_trace.hpp"
#include "prediction/traces/chakra.pb.h"
#include "prediction/traces/chakra_attributes.hpp"
#include "prediction/traces/own_fields.hpp"

namespace d5 {
namespace chakra {
namespace {

using Id = OperationGraph::Id;

void append(std::string& bytes, const google::protobuf::Message& message) {
  using google::protobuf::io::CodedOutputStream;
  const std::size_t size = message.ByteSizeLong();
  std::uint8_t length[10];
  std::uint8_t* const end = CodedOutputStream::WriteVarint64ToArray(size, length);
  bytes.append(length, end);
  message.AppendToString(&bytes);
}

NodeType type_of(const std::string& kind) {
  if (kind == "send" || kind == "push") return COMM_SEND_NODE;
  if (kind == "receive" || kind == "pull") return COMM_RECV_NODE;
  return operation_kinds().at(kind).communicates ? COMM_COLL_NODE : COMP_NODE;
}

/// The place of a kind among Chakra's types of collectives; none is taken for an all-reduce, as
/// that of a negotiation is.
std::int64_t collective_of(const std::string& kind) {
  const auto* place =
      std::ranges::find(kCollectives, kind, [](const char* each) { return std::string(each); });
  return place == std::end(kCollectives) ? 0 : place - std::begin(kCollectives);
}

class TraceWriter {
 public:
  explicit TraceWriter(const ChakraTrace& trace)
      : trace_(trace), graph_(trace.graph), numbers_(trace.graph.id_end()) {
    number_nodes();
    for (const Id id : graph_.ids()) {
      for (const std::uint64_t before : numbers_of(graph_.operation(id).attributes, kControl)) {
        control_is_whole_ = control_is_whole_ && used_.contains(before);
      }
    }
  }

  std::string run() {
    std::string bytes;
    GlobalMetadata metadata;
    for (const TraceArgument& each : trace_.metadata) {
      if (each.name == kVersion) {
        metadata.set_version(std::get<std::string>(each.value));
      } else {
        fill(*metadata.add_attr(), each);
      }
    }
    append(bytes, metadata);
    for (const Id id : graph_.ids()) append(bytes, node_of(id));
    return bytes;
  }

 private:
  /// Gives each operation the id that it was read with, or its place, or else a new one.
  void number_nodes() {
    std::set<std::uint64_t> absent;  // ids that no node may have
    std::uint64_t next = 0;
    std::vector<Id> without;
    for (const Id id : graph_.ids()) {
      const Arguments& arguments = graph_.operation(id).attributes;
      for (const std::uint64_t each : numbers_of(arguments, kMissing)) absent.insert(each);
      const TraceArgument* number = find(arguments, kId);
      if (number && used_.insert(numbers_[id] = number_of(*number)).second) continue;
      without.push_back(id);
    }
    std::unordered_map<Id, std::uint64_t> places;
    for (const Id id : graph_.ids()) places.emplace(id, places.size());
    for (const Id id : without) {
      std::uint64_t number = places.at(id);
      while (used_.contains(number) || absent.contains(number)) number = places.size() + next++;
      numbers_[id] = number;
      used_.insert(number);
    }
  }

  [[nodiscard]] Node node_of(Id id) const {
    const Operation& operation = graph_.operation(id);
    const bool is_own = !find(operation.attributes, kType);
    Node node;
    node.set_id(numbers_[id]);
    node.set_name(operation.name);
    const std::uint64_t micros = micros_of(operation);
    node.set_duration_micros(micros);
    add_dependencies(node, id);
    for (const TraceArgument& each : operation.attributes) set(node, each);
    OwnFields own;
    if (is_own) {
      const OperationLane& lane = graph_.lanes()[operation.lane];
      node.set_type(type_of(operation.kind));
      own.kind = operation.kind;
      own.lane = lane.name;
      own.rank = lane.rank;
      if (lane.width != 1) own.width = lane.width;
    }
    if (seconds_of_micros(micros) != operation.seconds) own.seconds = operation.seconds;
    if (operation.priority != 0) own.priority = operation.priority;
    if (operation.rule) {
      own.algorithm = operation.rule->algorithm;
      own.bytes = operation.rule->bytes;
      own.ranks = operation.rule->ranks;
    }
    OwnFields::visit(own, [&](const char* name, const auto& member) {
      if (member) fill(*node.add_attr(), {name, *member});
    });
    if (is_own) add_derived(node, operation);
    return node;
  }

  [[nodiscard]] std::uint64_t micros_of(const Operation& operation) const {
    if (operation.seconds > seconds_of_micros(kMostMicros)) {
      throw ValueError(
          fmt::format("Chakra trace '{}': the operation '{}' takes {} s; expected 35 "
                      "years at most",
                      printable(graph_.name()), printable(operation.name), operation.seconds));
    }
    return static_cast<std::uint64_t>(std::llround(operation.seconds * 1e6));
  }

  void add_dependencies(Node& node, Id id) const {
    const Arguments& arguments = graph_.operation(id).attributes;
    std::set<std::uint64_t> by_control;
    for (const auto before : numbers_of(arguments, kControl)) {
      node.add_ctrl_deps(before);
      if (control_is_whole_) by_control.insert(before);
    }
    for (const auto before : numbers_of(arguments, kBoth)) by_control.erase(before);
    for (const Id before : graph_.predecessors(id)) {
      if (!by_control.contains(numbers_[before])) node.add_data_deps(numbers_[before]);
    }
    for (const auto before : numbers_of(arguments, kMissing)) node.add_data_deps(before);
  }

  /// Sets the field that the argument holds; otherwise adds an attribute.
  static void set(Node& node, const TraceArgument& argument) {
    const std::string& name = argument.name;
    if (name == kId || name == kControl || name == kBoth || name == kMissing) return;
    const auto* text = std::get_if<std::string>(&argument.value);
    NodeType type = INVALID_NODE;
    if (name == kType && text && NodeType_Parse(*text, &type)) {
      node.set_type(type);
    } else if (name == kStart) {
      node.set_start_time_micros(number_of(argument));
    } else if (text && name == "chakra.inputs.values") {
      node.mutable_inputs()->set_values(*text);
    } else if (text && name == "chakra.inputs.shapes") {
      node.mutable_inputs()->set_shapes(*text);
    } else if (text && name == "chakra.inputs.types") {
      node.mutable_inputs()->set_types(*text);
    } else if (text && name == "chakra.outputs.values") {
      node.mutable_outputs()->set_values(*text);
    } else if (text && name == "chakra.outputs.shapes") {
      node.mutable_outputs()->set_shapes(*text);
    } else if (text && name == "chakra.outputs.types") {
      node.mutable_outputs()->set_types(*text);
    } else {
      fill(*node.add_attr(), argument);
    }
  }

  /// Adds what ASTRA-sim asks of a node.
  static void add_derived(Node& node, const Operation& operation) {
    AttributeProto& place = *node.add_attr();
    place.set_name("is_cpu_op");
    place.set_bool_val(false);
    if (node.type() == COMM_COLL_NODE) {
      fill(*node.add_attr(), {"comm_type", collective_of(operation.kind)});
    }
    if (node.type() != COMP_NODE && operation.rule && operation.rule->bytes < 0x1p53) {
      fill(*node.add_attr(), {"comm_size", std::int64_t(std::llround(operation.rule->bytes))});
    }
  }

  const ChakraTrace& trace_;
  const OperationGraph& graph_;
  std::set<std::uint64_t> used_;
  std::vector<std::uint64_t> numbers_;  ///< ids of nodes, by id of the operation
  bool control_is_whole_ = true;        ///< whether all control dependencies name operations
};

}  // namespace
}  // namespace chakra

std::string to_chakra(const ChakraTrace& trace) { return chakra::TraceWriter(trace).run(); }

void write_execution_trace(const ChakraTrace& trace, const std::string& path) {
  write_file(path, to_chakra(trace));
}

}  // namespace d5
