// SPDX-License-Identifier: Apache-2.0
#include "level1_network/source/value_ranges.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/visitor.hpp"

namespace d5 {
namespace {

/// A reader of a tensor, and the index of the input.
struct Reading {
  const onnx::Node* node;
  std::size_t input;
};
using Readers = std::map<std::string, std::vector<Reading>, std::less<>>;

/// Includes readers in nested graphs, where names are unique too.
void collect_readers(const onnx::Graph& graph, Readers& readers,
                     std::vector<std::shared_ptr<const onnx::Graph>>& held) {
  for (const auto& node : graph.nodes) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.has_input(i)) readers[node.inputs[i]].push_back({&node, i});
    }
    for (const auto& [name, nested] : onnx::subgraphs(node)) {
      held.push_back(nested);
      collect_readers(*nested, readers, held);
    }
  }
}

std::int64_t whole_attribute(const onnx::Node& node, const char* name, std::int64_t otherwise) {
  const auto* value = node.attribute<std::int64_t>(name);
  return value ? *value : otherwise;
}

/// Constraints on values from one reader.
class Demand {
 public:
  Demand(const Inference& found, const Reading& reading, bool is_scalar)
      : found_(found), node_(*reading.node), input_(reading.input), is_scalar_(is_scalar) {}

  [[nodiscard]] std::optional<ValueRange> range() const {
    if (node_.domain == "com.microsoft") return of_contrib();
    if (!node_.domain.empty()) return {};
    const auto rule = rules().find({node_.op_type, input_});
    return rule == rules().end() ? std::nullopt : rule->second(*this);
  }

 private:
  using Rule = std::function<std::optional<ValueRange>(const Demand&)>;

  static const std::map<std::pair<std::string, std::size_t>, Rule>& rules() {
    static const auto looked_up = [](const Demand& d) { return d.below(d.size_at("axis", 0)); };
    static const auto anywhere = [](const Demand& d) { return d.below(d.smallest_size()); };
    static const auto exactly = [](std::int64_t value) {
      return [=](const Demand&) { return std::optional(ValueRange{value, value}); };
    };
    static const auto between = [](std::int64_t least, std::int64_t most) {
      return [=](const Demand&) { return std::optional(ValueRange{least, most}); };
    };
    static const auto compared = [](const Demand& d) { return d.equal_to(1 - d.input_); };
    static const auto steps_of_layer = [](const Demand& d) {
      return d.length(d.size_of(0, whole_attribute(d.node_, "layout", 0)));
    };
    static const auto label = [](const Demand& d) { return d.below(d.size_of(0, 1)); };
    static const std::map<std::pair<std::string, std::size_t>, Rule> table{
        {{"Gather", 1}, looked_up},
        {{"GatherElements", 1}, looked_up},
        {{"ScatterElements", 1}, looked_up},
        {{"GatherND", 1}, anywhere},
        {{"ScatterND", 1}, anywhere},
        {{"OneHot", 0}, [](const Demand& d) { return d.below(d.number(1)); }},
        {{"NegativeLogLikelihoodLoss", 1}, label},
        {{"SoftmaxCrossEntropyLoss", 1}, label},
        {{"Equal", 0}, compared},
        {{"Equal", 1}, compared},
        {{"LSTM", 4}, steps_of_layer},
        {{"GRU", 4}, steps_of_layer},
        {{"RNN", 4}, steps_of_layer},
        {{"ReverseSequence", 1},
         [](const Demand& d) { return d.length(d.size_at("time_axis", 0)); }},
        {{"Slice", 1}, exactly(0)},
        {{"Slice", 2}, [](const Demand& d) { return d.length(d.smallest_size()); }},
        {{"Slice", 3}, exactly(0)},
        {{"Slice", 4}, exactly(1)},
        {{"Range", 0}, exactly(0)},
        {{"Range", 1}, between(1, 9)},
        {{"Range", 2}, exactly(1)},
        {{"Loop", 0}, between(1, 9)},
        {{"Div", 1}, between(1, 9)},
        {{"Mod", 1}, between(1, 9)},
        {{"Cast", 0}, [](const Demand& d) { return d.as_bool(); }},
        {{"Sub", 1}, [](const Demand& d) { return d.subtracted_from_one(); }},
        {{"ConstantOfShape", 0}, exactly(1)},
        {{"Expand", 1}, exactly(1)},
        {{"Tile", 1}, exactly(1)},
        {{"TopK", 1}, exactly(1)},
        {{"Pad", 1}, exactly(0)},
        {{"Resize", 2}, exactly(1)},
        {{"Squeeze", 1}, exactly(0)},
        {{"Unsqueeze", 1}, exactly(0)},
        {{"CumSum", 1}, exactly(0)},
    };
    return table;
  }

  [[nodiscard]] std::optional<ValueRange> of_contrib() const {
    const bool is_embedding = node_.op_type == "EmbedLayerNormalization";
    if (is_embedding && input_ < 2) return below(size_of(input_ == 0 ? 2 : 4, 0));
    const bool is_mask = (is_embedding && input_ == 7) ||
                         (node_.op_type == "Attention" && input_ == 3) ||
                         (node_.op_type == "MultiHeadAttention" && input_ == 4);
    return is_mask ? std::optional(ValueRange{0, 1}) : std::nullopt;
  }

  [[nodiscard]] const Shape* shape_of(std::size_t input) const {
    if (!node_.has_input(input)) return nullptr;
    const auto desc = found_.descs.find(node_.inputs[input]);
    const bool is_known =
        desc != found_.descs.end() && desc->second.is_tensor() && desc->second.is_static();
    return is_known ? &desc->second.tensor.shape : nullptr;
  }
  /// 0 if unknown.
  [[nodiscard]] std::int64_t size_of(std::size_t input, std::int64_t axis) const {
    const Shape* shape = shape_of(input);
    const auto rank = shape ? std::int64_t(shape->rank()) : 0;
    if (axis < 0) axis += rank;
    return axis >= 0 && axis < rank ? (*shape)[std::size_t(axis)] : 0;
  }
  [[nodiscard]] std::int64_t size_at(const char* axis, std::int64_t otherwise) const {
    return size_of(0, whole_attribute(node_, axis, otherwise));
  }
  [[nodiscard]] std::int64_t smallest_size() const {
    const Shape* shape = shape_of(0);
    return shape && shape->rank() > 0 ? *std::ranges::min_element(*shape) : 0;
  }
  /// The first element of an input that is constant; 0 otherwise.
  [[nodiscard]] std::int64_t number(std::size_t input) const {
    const auto value = first_of(input);
    return value.value_or(0);
  }
  [[nodiscard]] std::optional<std::int64_t> first_of(std::size_t input) const {
    if (!node_.has_input(input)) return {};
    const auto place = found_.values.find(node_.inputs[input]);
    if (place == found_.values.end() || !place->second.is_tensor()) return {};
    const Tensor& tensor = place->second.tensor();
    if (tensor.elements() == 0) return {};
    std::optional<std::int64_t> first;
    try {
      dispatch(NumberTypes{}, tensor.dtype(), "a constant", [&]<class T>() {
        first = static_cast<std::int64_t>(static_cast<double>(tensor.span<T>()[0]));
      });
    } catch (const Error&) {  // it holds no numbers
    }
    return first;
  }

  [[nodiscard]] std::optional<ValueRange> below(std::int64_t count) const {
    if (count < 1) return {};
    return ValueRange{0, std::min<std::int64_t>(count - 1, ValueRange().most)};
  }
  [[nodiscard]] std::optional<ValueRange> length(std::int64_t most) const {
    if (most < 1) return {};
    return ValueRange{1, most};
  }
  /// Scalars only: of several elements, such as tokens and padding, few are equal to the constant.
  [[nodiscard]] std::optional<ValueRange> equal_to(std::size_t other) const {
    const auto value = is_scalar_ ? first_of(other) : std::nullopt;
    return value ? std::optional(ValueRange{*value, *value}) : std::nullopt;
  }
  [[nodiscard]] std::optional<ValueRange> as_bool() const {
    const bool is_bool = written_type() == DType::boolean;
    return is_bool ? std::optional(ValueRange{0, 1}) : std::nullopt;
  }
  [[nodiscard]] DType written_type() const {
    const auto desc = found_.descs.find(node_.has_output(0) ? node_.outputs[0] : "");
    return desc == found_.descs.end() || !desc->second.is_tensor() ? DType::undefined
                                                                   : desc->second.tensor.dtype;
  }
  [[nodiscard]] std::optional<ValueRange> subtracted_from_one() const {
    return first_of(0) == 1 ? std::optional(ValueRange{0, 1}) : std::nullopt;
  }

  const Inference& found_;
  const onnx::Node& node_;
  std::size_t input_;
  bool is_scalar_;
};

/// Whether the node's output has the values of that input.
bool hands_on(const Reading& reading) {
  static const std::set<std::string, std::less<>> kOfFirst{
      "Cast",  "CastLike", "Expand",  "Flatten", "Gather",    "Identity", "Reshape",
      "Slice", "Split",    "Squeeze", "Tile",    "Transpose", "Unsqueeze"};
  const auto& [node, input] = reading;
  if (!node->domain.empty()) return false;
  if (node->op_type == "Concat") return true;
  if (node->op_type == "Where") return input > 0;
  return input == 0 && kOfFirst.contains(node->op_type);
}

/// Follows an input to all its readers.
class RangeSearch {
 public:
  RangeSearch(const Readers& readers, const Inference& found, const TensorDesc& input)
      : readers_(readers),
        found_(found),
        is_scalar_(input.shape.elements() == 1 && input.shape.rank() < 2),
        is_whole_(!is_floating_point(input.dtype)) {}

  [[nodiscard]] std::optional<ValueRange> of(const std::string& tensor) {
    follow(tensor);
    return range_;
  }

 private:
  void follow(const std::string& tensor) {
    const auto place = readers_.find(tensor);
    if (place == readers_.end() || !seen_.insert(tensor).second) return;
    for (const Reading& reading : place->second) {
      // Floating-point values are data, unless a reader converts them to integers.
      const bool counts = is_whole_ || is_cast(tensor) || reading.node->op_type == "Resize";
      const auto asked =
          counts ? Demand(found_, reading, is_scalar_).range() : std::optional<ValueRange>();
      if (asked) narrow(*asked);
      if (!hands_on(reading)) continue;
      for (const auto& output : reading.node->outputs) follow(output);
    }
  }
  [[nodiscard]] bool is_cast(const std::string& tensor) const {
    const auto desc = found_.descs.find(tensor);
    return desc != found_.descs.end() && desc->second.is_tensor() &&
           !is_floating_point(desc->second.tensor.dtype);
  }
  /// If two constraints are incompatible, the first holds.
  void narrow(const ValueRange& asked) {
    if (!range_) range_ = asked;
    const ValueRange both{std::max(range_->least, asked.least), std::min(range_->most, asked.most)};
    if (both.least <= both.most) range_ = both;
  }

  const Readers& readers_;
  const Inference& found_;
  bool is_scalar_, is_whole_;
  std::set<std::string> seen_;
  std::optional<ValueRange> range_;
};

}  // namespace

ValueRanges value_ranges(const onnx::Graph& graph, const Inference& found) {
  Readers readers;
  std::vector<std::shared_ptr<const onnx::Graph>> held;
  collect_readers(graph, readers, held);
  ValueRanges ranges;
  for (const auto& info : graph.inputs) {
    const auto desc = found.descs.find(info.name);
    if (desc == found.descs.end() || !desc->second.is_tensor()) continue;
    const auto range = RangeSearch(readers, found, desc->second.tensor).of(info.name);
    if (range) ranges[info.name] = *range;
  }
  return ranges;
}

}  // namespace d5
