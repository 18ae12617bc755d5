// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/parsing/json_reader.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/prediction/graph/operation_graph_file.hpp"

namespace d5 {
namespace {

using Json = nlohmann::ordered_json;
using detail::JsonReader;

constexpr const char* kGraphFormat = "d5 graph of operations";
constexpr int kGraphSchema = 1;
constexpr std::size_t kMostGraphBytes = std::size_t{1} << 32;

constexpr double kMostLane = 1e9;
constexpr double kMostWhole = JsonReader::kMostWhole;
constexpr std::array kValueKinds = {"integer", "number", "text"};  ///< in the order of the variant

Json json_of(const Operation& operation, const std::vector<std::size_t>& after) {
  Json json = {{"name", operation.name},
               {"kind", operation.kind},
               {"lane", operation.lane},
               {"seconds", operation.seconds}};
  if (operation.priority != 0) json["priority"] = operation.priority;
  if (operation.rule) {
    json["rule"] = {{"algorithm", operation.rule->algorithm},
                    {"bytes", operation.rule->bytes},
                    {"ranks", operation.rule->ranks}};
  }
  for (const TraceArgument& attribute : operation.attributes) {
    const Json value = std::visit([](const auto& v) -> Json { return v; }, attribute.value);
    json["attributes"].push_back(
        {{"name", attribute.name}, {kValueKinds.at(attribute.value.index()), value}});
  }
  if (!after.empty()) json["after"] = after;
  return json;
}

decltype(TraceArgument::value) value_from(const JsonReader& attribute) {
  if (attribute.has("integer")) return attribute.whole("integer", -kMostWhole, kMostWhole);
  if (attribute.has("number")) return attribute.number("number");
  return attribute.text("text");
}

Operation operation_from(const JsonReader& json) {
  Operation operation{.name = json.text("name"),
                      .kind = json.text("kind"),
                      .lane = static_cast<std::size_t>(json.whole("lane", 0, kMostWhole)),
                      .seconds = json.number("seconds"),
                      .priority = json.whole("priority", -kMostWhole, kMostWhole, 0)};
  if (json.has("rule")) {
    const JsonReader rule = json.object("rule");
    operation.rule =
        CostRule{rule.text("algorithm"), rule.number("bytes"), rule.whole("ranks", 1, kMostWhole)};
  }
  if (!json.has("attributes")) return operation;
  for (const JsonReader& attribute : json.objects("attributes")) {
    operation.attributes.push_back({attribute.text("name"), value_from(attribute)});
  }
  return operation;
}

/// Adds edges after all operations, because a file may refer to later ones.
void add_edges(OperationGraph& graph, std::size_t id, const JsonReader& json) {
  if (!json.has("after")) return;
  for (const double before : json.numbers("after")) {
    if (!(before >= 0 && before < static_cast<double>(graph.size())) ||
        before != std::floor(before) || before == static_cast<double>(id)) {
      json.fail("after", fmt::format("names operation {}", before),
                fmt::format("another one of 0 to {}", graph.size() - 1));
    }
    graph.add_edge(static_cast<std::size_t>(before), id);
  }
}

}  // namespace

std::string to_json(const OperationGraph& graph) {
  const auto dumped = [](const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  Json lanes = Json::array();
  for (const OperationLane& lane : graph.lanes()) {
    lanes.push_back({{"rank", lane.rank}, {"name", lane.name}, {"width", lane.width}});
  }
  std::string text = fmt::format(
      "{{\"format\": \"{}\", \"schema\": {}, \"name\": {},\n\"lanes\": {},\n\"operations\": [",
      kGraphFormat, kGraphSchema, dumped(graph.name()), dumped(lanes));
  const auto ids = graph.ids();
  std::vector<std::size_t> number(graph.id_end());
  for (std::size_t i = 0; i < ids.size(); ++i) number[ids[i]] = i;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::vector<std::size_t> after;
    for (const auto before : graph.predecessors(ids[i])) after.push_back(number[before]);
    text += (i == 0 ? "\n" : ",\n") + dumped(json_of(graph.operation(ids[i]), after));
  }
  return text + "]}\n";
}

OperationGraph operation_graph_from_json(const std::string& text, const std::string& file) {
  const JsonReader json(text, "graph of operations '" + printable(file) + "'");
  if (json.text("format") != kGraphFormat) {
    json.fail("format", fmt::format("is '{}'", printable(json.text("format"))), kGraphFormat);
  }
  if (json.integer("schema") != kGraphSchema) {
    json.fail("schema", fmt::format("is {}", json.integer("schema")),
              fmt::format("{}, which this d5 knows", kGraphSchema));
  }
  OperationGraph graph(json.text("name"));
  for (const JsonReader& lane : json.objects("lanes")) {
    const std::size_t before = graph.lanes().size();
    (void)graph.lane(static_cast<int>(lane.whole("rank", -1, kMostLane)), lane.text("name"),
                     lane.integer("width"));
    if (graph.lanes().size() == before) lane.fail("name", "is there twice", "lanes that differ");
  }
  const auto operations = json.objects("operations");
  for (const JsonReader& operation : operations) {
    try {
      (void)graph.add(operation_from(operation));
    } catch (const FormatError&) {
      throw;
    } catch (const Error& error) {
      operation.fail("name", fmt::format("begins one that cannot be: {}", error.what()),
                     "an operation that a graph takes");
    }
  }
  for (std::size_t id = 0; id < operations.size(); ++id) add_edges(graph, id, operations[id]);
  graph.check();
  return graph;
}

void write_operation_graph(const OperationGraph& graph, const std::string& path) {
  constexpr std::array<std::string_view, 3> kKnown = {".json", ".dot", ".svg"};
  if (std::ranges::none_of(kKnown, [&](std::string_view end) { return path.ends_with(end); })) {
    throw ValueError(fmt::format("operation graph '{}': expected a file {}", printable(path),
                                 fmt::join(kKnown, ", ")));
  }
  write_file(path, path.ends_with(".dot")   ? to_dot(graph)
                   : path.ends_with(".svg") ? to_svg(graph)
                                            : to_json(graph));
}

OperationGraph read_operation_graph(const std::string& path) {
  return operation_graph_from_json(read_file(path, kMostGraphBytes), path);
}

}  // namespace d5
