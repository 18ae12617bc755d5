// SPDX-License-Identifier: Apache-2.0
// Tolerates omissions and duplicates of exporters. Unambiguous gaps are filled in, with a note;
// `check_graph` refuses the others.
#include <fmt/format.h>
#include <onnx/common/proto_util.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "onnx/contrib_schemas.hpp"
#include "onnx/stages.hpp"
#include "onnx/walk.hpp"

namespace d5::onnx::detail {
namespace {

/// "'a', 'b', 'c' and 4 others"
std::string shown(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  std::string result;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    result += fmt::format("{}'{}'", i > 0 ? ", " : "", printable(names[i]));
  }
  const std::size_t left = names.size() - std::min(names.size(), kMost);
  if (left == 0) return result;
  return fmt::format("{} and {} other{}", result, left, left == 1 ? "" : "s");
}

class Gaps {
 public:
  Gaps(::onnx::ModelProto& model, const Source& source) : model_(model), source_(source) {}

  void fill() {
    tell_versions();
    import_domains();
    ::onnx::GraphProto& graph = *model_.mutable_graph();
    name_graphs(graph);
    for (auto& function : *model_.mutable_functions()) name_graphs_of(function);
    drop_initializers(graph);
    tell_unlisted(graph);
    split_outputs(graph);
    tell_types(graph.input(), "input");
    tell_types(graph.output(), "output");
    tell_metadata();
  }

 private:
  void tell_versions() {
    const std::int64_t version = model_.ir_version();
    const auto tell = [&](const char* what, int since) {
      source_.note(
          fmt::format("{}, which came with IR version {}, but its own is {}; it is read "
                      "as of IR version {}",
                      what, since, version, since));
    };
    if (version < 3 && model_.opset_import_size() > 0) tell("it imports opsets", 3);
    if (version < 8 && model_.functions_size() > 0) tell("it has functions", 8);
  }

  /// Adds missing imports of the nodes' domains. The version does not matter for the model's own
  /// functions. For ONNX's domains it is the newest that has all the nodes, as in ONNX Runtime.
  /// ai.onnx is not added, because its operators changed too often.
  void import_domains() {
    add_contrib_schemas();
    std::set<std::string> imported, functions;
    for (const auto& import : model_.opset_import()) imported.insert(import.domain());
    for (const auto& function : model_.functions()) {
      functions.insert(::onnx::GetFunctionImplId(function));
    }
    std::map<std::string, std::vector<const ::onnx::NodeProto*>> missing;
    for_each_node(model_.graph(), [&](const ::onnx::NodeProto& node, int) {
      if (node.domain().empty() || imported.contains(node.domain())) return;
      auto& nodes = missing[node.domain()];
      if (!functions.contains(::onnx::GetCalleeId(node))) nodes.push_back(&node);
    });
    for (const auto& [domain, nodes] : missing) {
      const int version = nodes.empty() ? 1 : newest_with(domain, nodes);
      if (version == 0) continue;  // `check_graph` refuses it
      auto& import = *model_.add_opset_import();
      import.set_domain(domain);
      import.set_version(version);
      source_.note(
          fmt::format("it imports no version of {}; {} is taken", printable(domain), version));
    }
  }

  /// 0 if there is none.
  static int newest_with(const std::string& domain,
                         const std::vector<const ::onnx::NodeProto*>& nodes) {
    const auto& known = ::onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
    const auto range = known.find(domain);
    if (range == known.end()) return 0;
    const auto is_known = [&](const ::onnx::NodeProto& node, int version) {
      const auto* schema =
          ::onnx::OpSchemaRegistry::Instance()->GetSchema(node.op_type(), version, domain);
      // A framework may know operators without a schema; otherwise they are refused later.
      if (!schema) return domain != "ai.onnx.ml";
      try {
        schema->Verify(node);
        return true;
      } catch (const std::exception&) {
        return false;
      }
    };
    for (int version = range->second.second; version >= range->second.first; --version) {
      if (std::ranges::all_of(nodes, [&](const auto* node) { return is_known(*node, version); })) {
        return version;
      }
    }
    return range->second.second;  // `check_graph` reports the node that does not fit
  }

  void name_graphs(::onnx::GraphProto& graph) {
    if (graph.name().empty()) {
      graph.set_name("graph");
      source_.note("its graph has no name; it is called 'graph'");
    }
    name_graphs_of(graph);
  }

  template <class Holder>
  void name_graphs_of(Holder& holder) {
    std::vector<std::string> nodes;
    for_each_node(holder, [&](::onnx::NodeProto& node, int) {
      bool is_named = true;
      const auto name = [&](::onnx::GraphProto& graph, const std::string& attribute) {
        if (!graph.name().empty()) return;
        graph.set_name(attribute);
        is_named = false;
      };
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) name(*attribute.mutable_g(), attribute.name());
        for (auto& graph : *attribute.mutable_graphs()) name(graph, attribute.name());
      }
      if (is_named) return;
      const bool has_name = !node.name().empty() || node.output().empty();
      nodes.push_back(has_name ? node.name() : node.output(0));
    });
    if (nodes.empty()) return;
    source_.note(fmt::format("graphs in {} have no name; they are called as their attributes",
                             shown(nodes)));
  }

  /// Removes initializers without a name, which nothing can read, and duplicates.
  void drop_initializers(::onnx::GraphProto& graph) {
    std::unordered_map<std::string, const ::onnx::TensorProto*> first;
    std::vector<std::string> twice;
    int unnamed = 0;
    std::vector<int> dropped;
    for (int i = 0; i < graph.initializer_size(); ++i) {
      const auto& tensor = graph.initializer(i);
      const auto [place, is_new] = first.emplace(tensor.name(), &tensor);
      if (tensor.name().empty()) {
        ++unnamed;
      } else if (!is_new && place->second->SerializeAsString() == tensor.SerializeAsString()) {
        twice.push_back(tensor.name());
      } else {
        continue;
      }
      dropped.push_back(i);
    }
    for (auto i = dropped.rbegin(); i != dropped.rend(); ++i) {
      graph.mutable_initializer()->DeleteSubrange(*i, 1);
    }
    if (!twice.empty()) {
      source_.note(fmt::format("initializers defined twice, with the same data: {}", shown(twice)));
    }
    if (unnamed > 0) {
      source_.note(
          fmt::format("{} of its initializers {} no name; nothing can read {}, and {} "
                      "left out",
                      unnamed, unnamed == 1 ? "has" : "have", unnamed == 1 ? "it" : "them",
                      unnamed == 1 ? "it is" : "they are"));
    }
  }

  void tell_unlisted(const ::onnx::GraphProto& graph) {
    constexpr int kFirstWithoutInputs = 4;
    if (model_.ir_version() >= kFirstWithoutInputs) return;
    std::set<std::string_view> inputs;
    for (const auto& input : graph.input()) inputs.insert(input.name());
    std::vector<std::string> unlisted;
    for (const auto& tensor : graph.initializer()) {
      if (!inputs.contains(tensor.name())) unlisted.push_back(tensor.name());
    }
    if (unlisted.empty()) return;
    source_.note(
        fmt::format("initializer {} is no input, as IR version {} asks for; it is read as "
                    "of IR version {}",
                    shown(unlisted), model_.ir_version(), kFirstWithoutInputs));
  }

  /// Copies a repeated output to a separate one with the same values.
  void split_outputs(::onnx::GraphProto& graph) {
    std::set<std::string> names;
    for_each_node(std::as_const(graph), [&](const ::onnx::NodeProto& node, int) {
      names.insert(node.output().begin(), node.output().end());
    });
    for (const auto& input : graph.input()) names.insert(input.name());
    for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
    std::set<std::string> listed;
    for (auto& output : *graph.mutable_output()) {
      const std::string name = output.name();
      if (listed.insert(name).second) continue;
      std::string other;
      for (int i = 2; other.empty() || names.contains(other); ++i) {
        other = fmt::format("{}_{}", name, i);
      }
      names.insert(other);
      auto& node = *graph.add_node();
      node.set_op_type("Identity");
      node.set_name(other);
      node.add_input(name);
      node.add_output(other);
      output.set_name(other);
      source_.note(fmt::format("output '{}' is listed twice; the second is called '{}'",
                               printable(name), printable(other)));
    }
  }

  template <class Values>
  void tell_types(const Values& values, const char* what) {
    std::vector<std::string> without_type, without_shape, below_0;
    for (const auto& value : values) {
      const auto& type = value.type();
      if (type.value_case() == ::onnx::TypeProto::VALUE_NOT_SET) {
        without_type.push_back(value.name());
      } else if (type.has_tensor_type() && !type.tensor_type().has_shape()) {
        without_shape.push_back(value.name());
      }
      // Many exporters write -1 for an open size.
      if (std::ranges::any_of(type.tensor_type().shape().dim(),
                              [](const auto& dim) { return dim.dim_value() < -1; })) {
        below_0.push_back(value.name());
      }
    }
    const auto tell = [&](const std::vector<std::string>& names, const char* declares) {
      if (names.empty()) return;
      const bool one = names.size() == 1;
      source_.note(fmt::format("{}{} {} declare{} {}", what, one ? "" : "s", shown(names),
                               one ? "s" : "", declares));
    };
    tell(without_type, "no type");
    tell(without_shape, "no shape");
    tell(below_0, "a size below 0, which is read as open");
  }

  void tell_metadata() {
    std::set<std::string_view> keys;
    for (const auto& entry : model_.metadata_props()) {
      if (keys.insert(entry.key()).second) continue;
      source_.note(
          fmt::format("metadata '{}' is given twice; the last is kept", printable(entry.key())));
    }
  }

  ::onnx::ModelProto& model_;
  const Source& source_;
};

}  // namespace

void fill_gaps(::onnx::ModelProto& model, const Source& source) { Gaps(model, source).fill(); }

}  // namespace d5::onnx::detail
