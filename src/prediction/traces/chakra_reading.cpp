// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <type_traits>
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

constexpr std::size_t kMostTraceBytes = std::size_t{1} << 32;
constexpr std::int64_t kMostLane = 1'000'000'000;

using Id = OperationGraph::Id;

/// The rank in "PREFIX.RANK.et"; 0 if there is none.
int rank_of(const std::filesystem::path& file) {
  const std::string word = file.stem().extension().string();
  int rank = 0;
  const auto read = std::from_chars(word.data() + !word.empty(), word.data() + word.size(), rank);
  const bool is_number =
      word.size() > 1 && read.ec == std::errc() && read.ptr == word.data() + word.size();
  return is_number && rank >= 0 && rank <= kMostLane ? rank : 0;
}

/// Takes d5's own field out of the attribute; false: it is another one.
bool take(OwnFields& own, const AttributeProto& attribute) {
  bool taken = false;
  OwnFields::visit(own, [&](const char* name, auto& member) {
    if (attribute.name() != name || !attribute.doc_string().empty()) return;
    using Member = std::decay_t<decltype(*member)>;
    if constexpr (std::is_same_v<Member, double>) {
      taken = attribute.has_double_val();
      if (taken) member = attribute.double_val();
    } else if constexpr (std::is_same_v<Member, std::int64_t>) {
      taken = attribute.has_int64_val();
      if (taken) member = attribute.int64_val();
    } else {
      taken = attribute.has_string_val();
      if (taken) member = attribute.string_val();
    }
  });
  return taken;
}

bool are_text(const IOInfo& tensors) {
  return is_text(tensors.values()) && is_text(tensors.shapes()) && is_text(tensors.types());
}

void add_tensors(Arguments& arguments, const std::string& what, const IOInfo& tensors) {
  arguments.push_back({what + ".values", tensors.values()});
  arguments.push_back({what + ".shapes", tensors.shapes()});
  arguments.push_back({what + ".types", tensors.types()});
}

class TraceReader {
 public:
  TraceReader(std::string_view bytes, std::string file)
      : bytes_(bytes), file_(std::move(file)), rank_(rank_of(file_)) {
    trace_.graph = OperationGraph(std::filesystem::path(file_).stem().string());
  }

  ChakraTrace run() {
    GlobalMetadata metadata;
    parse(metadata);
    if (!is_text(metadata.version())) fail("its version is not UTF-8", "UTF-8");
    if (!metadata.version().empty()) trace_.metadata.push_back({kVersion, metadata.version()});
    for (const AttributeProto& each : metadata.attr()) {
      trace_.metadata.push_back(argument(each));
    }
    ++message_;
    Node node;
    while (at_ < bytes_.size()) {
      parse(node);
      add(node);
      ++message_;
    }
    connect();
    add_notes();
    return std::move(trace_);
  }

 private:
  [[noreturn]] void fail(const std::string& given, const std::string& expected) const {
    throw FormatError(fmt::format("Chakra trace '{}': message {} at byte {}: {}; expected {}",
                                  printable(file_), message_, begin_, given, expected));
  }

  std::uint64_t length() {
    std::uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) break;
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      number |= std::uint64_t{byte & 127U} << shift;
      if (byte < 128) return number;
    }
    fail("its length is cut off or too long", "a varint; the file is damaged or no Chakra trace");
  }

  template <class Message>
  void parse(Message& message) {
    begin_ = at_;
    const std::uint64_t size = length();
    if (size > bytes_.size() - at_ || size > std::uint64_t(std::numeric_limits<int>::max())) {
      fail(fmt::format("{} bytes, where the file has {} more", size, bytes_.size() - at_),
           "a whole message; the file is cut off, damaged or no Chakra trace");
    }
    if (!message.ParseFromArray(bytes_.data() + at_, static_cast<int>(size))) {
      fail(fmt::format("{} bytes that protobuf cannot read", size),
           fmt::format("a {} of Chakra", Message::descriptor()->name()));
    }
    const std::size_t whole = message.ByteSizeLong();
    message.DiscardUnknownFields();
    if (message.ByteSizeLong() != whole) {
      fail("it has fields that the schema lacks",
           fmt::format("a {} of Chakra's schema, {}, which would otherwise lose them",
                       Message::descriptor()->name(),
                       message_ == 0 ? "first in the file" : "types 1 to 7"));
    }
    at_ += static_cast<std::size_t>(size);
  }

  [[nodiscard]] TraceArgument argument(const AttributeProto& attribute) const {
    try {
      return argument_of(attribute);
    } catch (const ValueError& error) {
      fail(error.what(), "a name that is text");
    }
  }

  void add(const Node& node) {
    if (!NodeType_IsValid(node.type()) || node.type() == INVALID_NODE) {
      fail(fmt::format("node {} has the type {}", node.id(), int(node.type())),
           "1 (METADATA_NODE) to 7 (COMM_COLL_NODE)");
    }
    if (node.duration_micros() > kMostMicros) {
      fail(fmt::format("node {} takes {} us", node.id(), node.duration_micros()),
           fmt::format("{} us at most, 35 years", kMostMicros));
    }
    if (!is_text(node.name()) || !are_text(node.inputs()) || !are_text(node.outputs())) {
      fail(fmt::format("node {} has a text that is not UTF-8", node.id()), "UTF-8");
    }
    Operation operation{.name = node.name(), .kind = {}};
    OwnFields own;
    set_attributes(operation.attributes, node, own);
    set_fields(operation, node, own);
    const auto [place, is_new] = ids_.emplace(node.id(), trace_.graph.id_end());
    if (!is_new) {
      fail(fmt::format("node {} ('{}') is there already", node.id(), printable(node.name())),
           "each id once");
    }
    try {
      (void)trace_.graph.add(std::move(operation));
    } catch (const Error& error) {
      fail(fmt::format("node {} cannot be: {}", node.id(), error.what()),
           "an operation that a graph takes");
    }
    data_.emplace_back(node.data_deps().begin(), node.data_deps().end());
    control_.emplace_back(node.ctrl_deps().begin(), node.ctrl_deps().end());
  }

  void set_attributes(Arguments& arguments, const Node& node, OwnFields& own) {
    for (const AttributeProto& each : node.attr()) (void)take(own, each);
    if (!own.kind || node.id() != trace_.graph.id_end()) {
      arguments.push_back({kId, exact(node.id())});
    }
    if (!own.kind) arguments.push_back({kType, NodeType_Name(node.type())});
    if (node.ctrl_deps_size() > 0) {
      const std::vector<std::uint64_t> control(node.ctrl_deps().begin(), node.ctrl_deps().end());
      const std::set<std::uint64_t> data(node.data_deps().begin(), node.data_deps().end());
      std::vector<std::uint64_t> both = control;
      std::erase_if(both, [&](std::uint64_t id) { return !data.contains(id); });
      arguments.push_back(list_of(kControl, control));
      if (!both.empty()) arguments.push_back(list_of(kBoth, both));
    }
    if (node.start_time_micros() > 0) {
      arguments.push_back({kStart, exact(node.start_time_micros())});
    }
    if (node.has_inputs()) add_tensors(arguments, "chakra.inputs", node.inputs());
    if (node.has_outputs()) add_tensors(arguments, "chakra.outputs", node.outputs());
    OwnFields again;
    for (const AttributeProto& each : node.attr()) {
      if (take(again, each) || (own.kind && is_derived(each.name()))) continue;
      arguments.push_back(argument(each));
    }
  }

  void set_fields(Operation& operation, const Node& node, const OwnFields& own) {
    operation.seconds = seconds_of_micros(node.duration_micros());
    if (own.seconds) {
      const bool agrees = *own.seconds >= 0 && *own.seconds <= seconds_of_micros(kMostMicros) &&
                          std::llround(*own.seconds * 1e6) == std::int64_t(node.duration_micros());
      if (!agrees) {
        fail(fmt::format("node {} takes {} us, and {} s by d5_seconds", node.id(),
                         node.duration_micros(), *own.seconds),
             "times that agree to the microsecond; remove the attribute");
      }
      operation.seconds = *own.seconds;
    }
    operation.priority = own.priority.value_or(0);
    if (own.algorithm && own.bytes && own.ranks) {
      operation.rule = CostRule{*own.algorithm, *own.bytes, *own.ranks};
    } else if (own.algorithm || own.bytes || own.ranks) {
      fail(fmt::format("node {} has a part of a rule", node.id()),
           "d5_algorithm, d5_bytes and d5_ranks, or none of them");
    }
    if (!own.kind && (own.lane || own.rank || own.width)) {
      fail(fmt::format("node {} has a lane of d5's and no d5_kind", node.id()),
           "d5_kind beside d5_lane, d5_rank and d5_width");
    }
    if (own.kind) operation.kind = *own.kind;
    const std::string lane = own.kind ? own.lane.value_or("compute") : place(operation, node);
    const std::int64_t rank = own.rank.value_or(rank_), width = own.width.value_or(1);
    if (rank < OperationLane::kShared || rank > kMostLane || width < 0 || width > kMostLane) {
      fail(
          fmt::format("node {} is of rank {}, on a lane for {} operations", node.id(), rank, width),
          fmt::format("ranks from {} on, lanes from 0 on, up to {}", OperationLane::kShared,
                      kMostLane));
    }
    try {
      operation.lane = trace_.graph.lane(int(rank), lane, int(width));
    } catch (const Error& error) {
      fail(fmt::format("node {}: {}", node.id(), error.what()), "one width of each lane");
    }
  }

  /// Sets the kind of a node that others wrote, and returns the name of its lane.
  std::string place(Operation& operation, const Node& node) {
    const Arguments& arguments = operation.attributes;
    const auto size = whole_attribute(arguments, "comm_size");
    const auto type = whole_attribute(arguments, "comm_type");
    operation.kind = "compute";
    if (size && *size < 0) {
      fail(fmt::format("node {} has a comm_size of {}", node.id(), *size), "0 bytes or more");
    }
    bool is_call = false;
    switch (node.type()) {
      case COMM_SEND_NODE:
      case COMM_RECV_NODE:
        operation.kind = node.type() == COMM_SEND_NODE ? "send" : "receive";
        return "network";
      case COMM_COLL_NODE:
        is_call = !size && type != kBarrier;
        ++(is_call ? calls_ : collectives_);
        if (is_call) break;
        if (!type || *type < 0 || *type >= std::ssize(kCollectives)) {
          fail(type ? fmt::format("collective {} has the comm_type {}", node.id(), *type)
                    : fmt::format("collective {} has no comm_type", node.id()),
               fmt::format("0 (ALL_REDUCE) to {} (BARRIER)", kBarrier));
        }
        if (const TraceArgument* group = find(arguments, "pg_name")) {
          if (const auto* name = std::get_if<std::string>(&group->value)) groups_.insert(*name);
        }
        operation.kind = kCollectives[*type];
        return "network";
      case MEM_LOAD_NODE:
      case MEM_STORE_NODE:
        operation.kind = "copy";
        break;
      default:
        break;
    }
    const auto thread = whole_attribute(arguments, "tid");
    const bool is_host = is_call || truth_attribute(arguments, "is_cpu_op").value_or(false);
    if (thread) return fmt::format("{} {}", is_host ? "thread" : "stream", *thread);
    if (operation.kind == "copy") return "copy";
    return is_host ? "host" : "compute";
  }

  void connect() {
    OperationGraph& graph = trace_.graph;
    for (Id id = 0; id < data_.size(); ++id) {
      std::vector<std::uint64_t> missing;
      const std::set<std::uint64_t> once(data_[id].begin(), data_[id].end());
      repeated_ += data_[id].size() - once.size();
      for (const std::uint64_t before : data_[id]) {
        const auto place = ids_.find(before);
        if (place == ids_.end()) {
          missing.push_back(before);
        } else if (place->second == id) {
          throw FormatError(
              fmt::format("Chakra trace '{}': node {} ('{}') waits for its own data; "
                          "expected data of other nodes",
                          printable(file_), before, printable(graph.operation(id).name)));
        } else {
          graph.add_edge(place->second, id);
        }
      }
      missing_ += missing.size();
      if (!missing.empty()) graph.edit(id).attributes.push_back(list_of(kMissing, missing));
    }
    try {
      graph.check();
    } catch (const ValueError& error) {
      throw FormatError(fmt::format("Chakra trace '{}': its data dependencies have a cycle: {}",
                                    printable(file_), error.what()));
    }
    connect_control();
  }

  /// Adds control dependencies if they can order a replay.
  void connect_control() {
    std::size_t all = 0, absent = 0, own = 0;
    for (Id id = 0; id < control_.size(); ++id) {
      for (const std::uint64_t before : control_[id]) {
        const auto place = ids_.find(before);
        ++all;
        absent += place == ids_.end();
        own += place != ids_.end() && place->second == id;
      }
    }
    if (all == 0) return;
    if (absent + own == 0) {
      OperationGraph ordered = trace_.graph;
      for (Id id = 0; id < control_.size(); ++id) {
        for (const std::uint64_t before : control_[id]) ordered.add_edge(ids_.at(before), id);
      }
      try {
        ordered.check();
        trace_.graph = std::move(ordered);
        return;
      } catch (const ValueError&) {  // they are calls, and no order
      }
    }
    const std::string why =
        absent + own == 0
            ? std::string("they close a cycle")
            : fmt::format("{} name nodes that the trace lacks, and {} the node itself", absent,
                          own);
    note("control dependencies", all,
         "they are attributes (chakra.ctrl_deps) and order nothing: " + why);
  }

  void note(const char* what, std::size_t number, const std::string& meaning) {
    if (number > 0) trace_.notes.push_back(fmt::format("{}: {}; {}", what, number, meaning));
  }

  void add_notes() {
    note("data dependencies on nodes that the trace lacks", missing_,
         "they are taken as met (chakra.missing_data_deps)");
    note("data dependencies that stand twice", repeated_, "they count once");
    note("collectives without comm_size", calls_,
         fmt::format("they are the host's calls, and count as computation; {} with one communicate",
                     collectives_));
    std::size_t last = 0;
    for (const Id id : trace_.graph.ids()) {
      last += operation_kinds().at(trace_.graph.operation(id).kind).communicates &&
              trace_.graph.successors(id).empty();
    }
    note("communication that no operation waits for", last,
         "it prolongs a step only where it ends last");
    if (groups_.size() > 1) {
      note("process groups", groups_.size(), "each collective is predicted among all ranks");
    }
  }

  std::string_view bytes_;
  std::string file_;
  int rank_;
  std::size_t at_ = 0, begin_ = 0, message_ = 0;
  ChakraTrace trace_;
  std::unordered_map<std::uint64_t, Id> ids_;
  std::vector<std::vector<std::uint64_t>> data_, control_;  ///< by operation
  std::size_t missing_ = 0, repeated_ = 0, calls_ = 0, collectives_ = 0;
  std::set<std::string> groups_;
};

}  // namespace
}  // namespace chakra

ChakraTrace execution_trace_from_chakra(std::string_view bytes, const std::string& file) {
  return chakra::TraceReader(bytes, file).run();
}

ChakraTrace read_execution_trace(const std::string& path) {
  return execution_trace_from_chakra(read_file(path, chakra::kMostTraceBytes), path);
}

}  // namespace d5
