// SPDX-License-Identifier: Apache-2.0
// Converts float32 to float16 or bfloat16 for operators that support it.
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "d5/onnx/file.hpp"
#include "level1_network/graph/exact_nodes.hpp"
#include "level1_network/graph/graph_links.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/nodes/output_types.hpp"
#include "level1_network/nodes/shorter_node.hpp"
#include "level1_network/nodes/shorter_numbers.hpp"
#include "level1_network/plan/computed_values.hpp"

namespace d5::transform {
namespace {

/// Element types of all tensors, as far as ONNX's rules infer them.
ElementTypes types_of(const Network& network) {
  onnx::Model model = network.model();
  detail::declare_custom_outputs(model.graph);
  ElementTypes types;
  for (const auto& [name, type] : onnx::types_of(model)) {
    if (type.kind == ValueKind::tensor) types[name] = type.dtype;
  }
  for (const auto& [name, value] : model.graph.initializers) types[name] = value.dtype();
  return types;
}

struct HalfPrecisionOptions {
  enum class Type { float16, bfloat16 } type = Type::float16;
  bool masters = false;
  enum class OutOfRange { refuse, float32 } out_of_range = OutOfRange::refuse;
  void declare(OptionList& options) {
    options.add("type", type, "type that replaces float32", {"float16", "bfloat16"});
    options.add("masters", masters,
                "keep parameters in float32 for an optimizer, and cast them in each run");
    options.add("out_of_range", out_of_range,
                "constants that overflow or underflow in the type: refuse the network, or keep "
                "their readers in float32",
                {"refuse", "float32"});
  }
};

/// One conversion of a network: the types of its tensors, and the casts between them.
class Conversion {
 public:
  Conversion(const Network& network, DType half, const HalfPrecisionOptions& options)
      : network_(network),
        links_(network),
        types_(types_of(network)),
        half_(half),
        options_(options) {}

  Splice run(TransformReport& report) {
    find_numbers();
    find_lost();
    const auto exact = exact_nodes(network_, types_);
    for (const auto& node : network_.graph().nodes) {
      auto& made = nodes_.emplace_back(node, types_, lost_, half_);
      if (exact.contains(first_output(node))) {
        made.stay(fmt::format("it counts, and {} holds integers up to {}", name_of(half_),
                              half_ == DType::float16 ? 2048 : 256));
      } else if (!made.lost().empty()) {
        if (numbers_.contains(first_output(node))) continue;  // its readers read what it computes
        refuse_lost(node, made);
      }
      if (made.obstacle().empty()) continue;
      report.left.push_back(fmt::format("{}: {}", onnx::describe(node), made.obstacle()));
    }
    const std::size_t values = shorten_values();
    std::size_t nodes = 0;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const onnx::Node& node = network_.graph().nodes[n];
      nodes += nodes_[n].changes() ? 1 : 0;
      nodes_[n].changes() ? add_shorter(node, nodes_[n]) : add_kept(node);
    }
    if (nodes > 0) {
      report.what = fmt::format("made {} nodes, {} parameters and constants {}, with {} casts",
                                nodes, values, name_of(half_), casts_);
    }
    return std::move(change_);
  }

 private:
  [[nodiscard]] bool is_single(std::string_view tensor) const {
    return detail::type_at(types_, tensor) == DType::float32;
  }

  /// Finds numbers that are the same in every run, including computed ones.
  void find_numbers() {
    constexpr std::int64_t kMostElements = 1 << 20;
    for (const auto& [name, value] : network_.graph().initializers) {
      if (const Tensor* known = known_value(network_, name)) numbers_[name] = known->on_host();
    }
    for_each_computed(network_, [&](const onnx::Node& node, const std::vector<Value>& values) {
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (!node.has_output(k)) continue;
        if (!values[k].is_tensor() || values[k].tensor().elements() > kMostElements) return false;
        numbers_[node.outputs[k]] = values[k].tensor();
      }
      return true;
    });
  }

  /// Finds tensors that the shorter type cannot hold, and outputs of the same size made from them.
  void find_lost() {
    for (const auto& [name, value] : numbers_) {
      if (!is_single(name)) continue;
      const bool is_cast = options_.masters && network_.is_parameter(name);
      note_lost(name, value, is_cast ? detail::Ends::are_numbers : detail::Ends::become_ends);
    }
    for (const auto& node : network_.graph().nodes) {
      const std::string output = first_output(node);
      if (numbers_.contains(output) || !is_single(output)) continue;
      if (node.op_type == "ConstantOfShape") {
        const auto* value = node.attribute<Tensor>("value");
        if (value) note_lost(output, *value, detail::Ends::become_ends);
      }
      for (const auto& name : node.inputs) {
        const auto place = lost_.find(name);
        if (place == lost_.end() || !keeps_size(node, name)) continue;
        const bool is_number = place->second.starts_with("holds ");
        lost_[output] =
            is_number ? fmt::format("comes from '{}', which {}", printable(name), place->second)
                      : place->second;
        break;
      }
    }
  }
  /// Whether the node's result from `lost` is as small, or as large; a quotient of two such is not.
  [[nodiscard]] bool keeps_size(const onnx::Node& node, const std::string& lost) const {
    static const std::set<std::string_view> kKeep = {
        "Abs", "Add", "Clip",       "Expand",    "Flatten",   "Identity", "Max",  "Min",
        "Neg", "Pow", "Reciprocal", "Relu",      "Reshape",   "Slice",    "Sqrt", "Squeeze",
        "Sub", "Sum", "Tile",       "Transpose", "Unsqueeze", "Where"};
    if (kKeep.contains(node.op_type)) return true;
    if (node.op_type != "Mul" && node.op_type != "Div") return false;
    return numbers_.contains(lost) || std::ranges::all_of(node.inputs, [&](const auto& name) {
             return name == lost || numbers_.contains(name);
           });
  }
  void note_lost(const std::string& name, const Tensor& value, detail::Ends ends) {
    auto what = detail::lost_in(value, half_, ends);
    if (!what.empty()) lost_[name] = std::move(what);
  }

  /// Throws: ValueError, unless the reader of such a number stays float32.
  void refuse_lost(const onnx::Node& node, const ShorterNode& made) const {
    using OutOfRange = HalfPrecisionOptions::OutOfRange;
    if (made.lost().empty() || options_.out_of_range == OutOfRange::float32) return;
    throw ValueError(fmt::format(
        "half-precision: {}: {}; {}out_of_range=float32 leaves what reads it in float32, or give "
        "it another number",
        onnx::describe(node), made.obstacle(),
        half_ == DType::float16 ? "choose type=bfloat16, which has float32's range; " : ""));
  }

  /// Converts values that only shorter nodes read. Returns their number.
  std::size_t shorten_values() {
    std::set<std::string> kept;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const onnx::Node& node = network_.graph().nodes[n];
      for (const auto& name : read_names(node)) {
        if (!nodes_[n].changes()) kept.insert(name);
      }
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (!nodes_[n].reads(i)) kept.insert(node.inputs[i]);
      }
    }
    std::size_t count = 0;
    for (const auto& [name, value] : network_.graph().initializers) {
      if (!is_single(name) || !known_value(network_, name) || links_.leaves(name) ||
          kept.contains(name) || !links_.is_read(name) ||
          (options_.masters && network_.is_parameter(name))) {
        continue;
      }
      auto& values = network_.is_parameter(name) ? change_.parameters : change_.constants;
      values[name] = detail::shortened(value.on_host(), half_);
      change_.remove.push_back(name);
      shorter_[name] = name;
      ++count;
    }
    return count;
  }

  void add_shorter(const onnx::Node& node, const ShorterNode& shorter) {
    onnx::Node result = shorter.node();
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!is_single(node.inputs[i])) continue;
      result.inputs[i] = shorter.reads(i) ? as_shorter(node.inputs[i]) : as_single(node.inputs[i]);
    }
    std::vector<std::string> leaving;
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      if (!shorter.writes(k)) continue;
      const std::string& name = node.outputs[k];
      if (links_.leaves(name)) {
        leaving.push_back(name);
        result.outputs[k] = name_in(name, half_);
      }
      shorter_[name] = result.outputs[k];
    }
    change_.remove.push_back(first_output(node));
    change_.nodes.push_back(std::move(result));
    for (const auto& name : leaving) cast(shorter_[name], name, DType::float32);
  }

  /// Adds a node that stays float32, with casts of its shorter inputs.
  void add_kept(const onnx::Node& node) {
    NewNames names;
    for (const auto& name : read_names(node)) {
      if (!is_single(name)) continue;
      if (std::string single = as_single(name); single != name) names[name] = std::move(single);
    }
    if (names.empty()) return;
    change_.remove.push_back(first_output(node));
    rename_reads(change_.nodes.emplace_back(node), names);
  }

  std::string as_shorter(const std::string& tensor) {
    if (const auto place = shorter_.find(tensor); place != shorter_.end()) return place->second;
    const std::string name = name_in(tensor, half_);
    const auto number = numbers_.find(tensor);
    const bool is_constant = number != numbers_.end() && !network_.is_parameter(tensor);
    if (!is_constant) return shorter_[tensor] = cast(tensor, name, half_);
    change_.constants[name] = detail::shortened(number->second, half_);
    return shorter_[tensor] = name;
  }
  std::string as_single(const std::string& tensor) {
    const auto place = shorter_.find(tensor);
    // If the float32 value exists as well, it keeps the old name.
    if (place == shorter_.end() || place->second != tensor) return tensor;
    const auto [single, fresh] = single_.try_emplace(tensor, name_in(tensor, DType::float32));
    if (fresh) cast(tensor, single->second, DType::float32);
    return single->second;
  }

  [[nodiscard]] std::string name_in(const std::string& tensor, DType dtype) const {
    return network_.unused_name(fmt::format("{}.{}", tensor, name_of(dtype)));
  }
  std::string cast(const std::string& from, const std::string& to, DType dtype) {
    onnx::Node& node = change_.nodes.emplace_back();
    node.op_type = "Cast";
    node.inputs = {from};
    node.outputs = {to};
    node.attributes = {{"to", std::int64_t(dtype)}};
    ++casts_;
    return to;
  }

  const Network& network_;
  const GraphLinks links_;
  const ElementTypes types_;
  const DType half_;
  const HalfPrecisionOptions& options_;
  std::map<std::string, Tensor, std::less<>> numbers_;
  LostNumbers lost_;
  std::deque<ShorterNode> nodes_;
  NewNames shorter_, single_;  ///< tensors by the names that they had, where they are in that type
  std::size_t casts_ = 0;
  Splice change_;
};

/// Inputs and outputs of the network stay float32, and so do nodes without a shorter type in ONNX.
/// Values of parameters are rounded permanently, unless they are master weights: the rounded copy
/// of a master is a value of the run, and its gradient is float32. Source: Micikevicius et al.,
/// "Mixed Precision Training" (2018), section 3.1.
class HalfPrecision final : public Transform {
 public:
  using Options = HalfPrecisionOptions;
  explicit HalfPrecision(const Options& options)
      : half_(options.type == Options::Type::float16 ? DType::float16 : DType::bfloat16),
        options_(options) {}
  Keeps keeps() const override { return Keeps::rounded; }

  TransformReport apply(Network& network) const override {
    constexpr int kCastToFloat16 = 6, kCastToBfloat16 = 13;  // opsets, by the type's number
    const int needed = half_ == DType::float16 ? kCastToFloat16 : kCastToBfloat16;
    const auto& imports = network.model().opset_imports;
    const auto opset = imports.find("");
    if (opset != imports.end() && opset->second < needed) {
      throw Unsupported(fmt::format(
          "half-precision: the network is of opset {}, and casts to {} begin with {}; convert the "
          "file to a newer one first",
          opset->second, name_of(half_), needed));
    }
    TransformReport report;
    Splice change = Conversion(network, half_, options_).run(report);
    if (!report.what.empty()) network.splice(std::move(change));
    return report;
  }

 private:
  DType half_;
  Options options_;
};

}  // namespace

void register_half_precision(Registry<TransformEntry>& registry) {
  registry.add(
      "half-precision",
      TransformEntry::of<HalfPrecision>(
          "half precision: computes in float16 or bfloat16 between float32 inputs and outputs"));
}

}  // namespace d5::transform
