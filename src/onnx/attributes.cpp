// SPDX-License-Identifier: Apache-2.0
// Ranges of attributes that are valid for all shapes. They are checked before ONNX's shape
// inference, which computes with the attributes, and before any operator reads them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "onnx/stages.hpp"
#include "onnx/tensor_proto.hpp"
#include "onnx/walk.hpp"

namespace d5::onnx::detail {
namespace {

/// Limit of sizes and distances along one dimension: products of two still fit in 64 bits.
constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

struct Range {
  std::string_view op_type;  ///< "": every operator that has the attribute
  std::string_view attribute;
  std::int64_t low, high;
};

// The first that matches counts.
constexpr Range kRanges[] = {
    {"", "group", 1, kMost},
    {"", "num_groups", 1, kMost},
    {"", "kernel_shape", 1, kMost},
    {"", "strides", 1, kMost},
    {"", "dilations", 1, kMost},
    {"Pad", "pads", -kMost, kMost},  // negative: removes elements
    {"Pad", "paddings", -kMost, kMost},
    {"", "pads", 0, kMost},
    {"", "output_padding", 0, kMost},
    {"", "output_shape", 0, kMost},
    {"", "split", 0, kMost},
    {"", "num_outputs", 1, kMost},
    {"", "hidden_size", 1, kMost},
    {"", "blocksize", 1, kMost},
    {"", "block_size", 0, kMost},
    {"LRN", "size", 1, kMost},
    {"", "pooled_shape", 1, kMost},
    {"", "output_height", 1, kMost},
    {"", "output_width", 1, kMost},
    {"", "sampling_ratio", 0, kMost},
    {"", "batch_dims", 0, kMost},
    {"", "num_scan_inputs", 1, kMost},
    {"", "kv_num_heads", 1, kMost},
    {"", "q_num_heads", 1, kMost},
    {"", "num_heads", 0, kMost},
    {"", "rotary_embedding_dim", 0, kMost},
    {"TopK", "k", 0, std::numeric_limits<std::int64_t>::max()},
    {"", "axis", -kMost, kMost},
    {"", "axes", -kMost, kMost},
    {"", "batch_axis", -kMost, kMost},
    {"", "time_axis", -kMost, kMost},
    {"", "ceil_mode", 0, 1},
    {"", "count_include_pad", 0, 1},
    {"", "exclusive", 0, 1},
    {"", "reverse", 0, 1},
    {"", "keepdims", 0, 1},
    {"", "storage_order", 0, 1},
    {"", "select_last_index", 0, 1},
    {"", "saturate", 0, 1},
    {"", "layout", 0, 1},
};

/// Checks the attributes of a node.
class NodeCheck {
 public:
  NodeCheck(const ::onnx::NodeProto& node, const Source& source) : node_(node), source_(source) {}

  void run() const {
    for (const auto& attribute : node_.attribute()) {
      check_range(attribute);
      check_dtype(attribute);
      check_floats(attribute);
      check_permutation(attribute);
      check_filled_shape(attribute);
    }
    check_spatial_lengths();
  }

 private:
  [[noreturn]] void fail(std::string_view attribute, std::string_view given,
                         std::string_view expected) const {
    source_.fail(fmt::format("{}: attribute {} is {}, expected {}", node_name(), attribute, given,
                             expected));
  }

  [[nodiscard]] std::string node_name() const {
    const bool named = !node_.name().empty() || node_.output().empty();
    return fmt::format("{} '{}'", printable(node_.op_type()),
                       printable(named ? node_.name() : node_.output(0)));
  }

  void check_range(const ::onnx::AttributeProto& attribute) const {
    for (const Range& range : kRanges) {
      if (range.attribute != attribute.name()) continue;
      if (!range.op_type.empty() && range.op_type != node_.op_type()) continue;
      const auto check = [&](std::int64_t value) {
        if (value >= range.low && value <= range.high) return;
        fail(range.attribute, std::to_string(value),
             fmt::format("a number in [{}, {}]", range.low, range.high));
      };
      if (attribute.type() == ::onnx::AttributeProto::INT) check(attribute.i());
      for (const std::int64_t value : attribute.ints()) check(value);
      return;
    }
  }

  void check_dtype(const ::onnx::AttributeProto& attribute) const {
    if (attribute.type() != ::onnx::AttributeProto::INT) return;
    if (attribute.name() != "to" && attribute.name() != "dtype") return;
    if (attribute.name() == "dtype" && attribute.i() == 0) return;  // unspecified
    if (attribute.i() != std::int32_t(attribute.i())) {
      fail(attribute.name(), std::to_string(attribute.i()), "an element type");
    }
    (void)read_dtype(std::int32_t(attribute.i()), source_,
                     fmt::format("{}: attribute {}", node_name(), attribute.name()));
  }

  void check_floats(const ::onnx::AttributeProto& attribute) const {
    if (attribute.name() != "scales" || attribute.floats_size() == 0) return;
    for (const float scale : attribute.floats()) {
      if (!(scale > 0) || std::isinf(scale)) {
        fail("scales", fmt::format("{}", scale), "positive finite numbers");
      }
    }
  }

  void check_permutation(const ::onnx::AttributeProto& attribute) const {
    if (attribute.name() != "perm") return;
    std::vector<bool> seen(std::size_t(attribute.ints_size()));
    for (const std::int64_t axis : attribute.ints()) {
      if (axis < 0 || axis >= attribute.ints_size() || seen[std::size_t(axis)]) {
        fail("perm", fmt::format("[{}]", fmt::join(attribute.ints(), ", ")),
             fmt::format("each of 0 to {} once", attribute.ints_size() - 1));
      }
      seen[std::size_t(axis)] = true;
    }
  }

  /// The shape attribute of a generator, such as RandomNormal.
  void check_filled_shape(const ::onnx::AttributeProto& attribute) const {
    if (attribute.name() != "shape" || attribute.type() != ::onnx::AttributeProto::INTS) return;
    const bool is_reshape = node_.op_type() == "Reshape";
    Shape shape;
    for (const std::int64_t dim : attribute.ints()) {
      if (dim < (is_reshape ? -1 : 0)) fail("shape", std::to_string(dim), "no negative sizes");
      shape.push_back(std::max<std::int64_t>(dim, 0));
    }
    if (is_reshape) return;
    const auto budget = std::int64_t(memory_budget() / sizeof(float));
    std::int64_t elements = 0;
    try {
      elements = shape.elements();
    } catch (const ShapeError& error) {
      fail("shape", error.what(), "one that fits into memory");
    }
    if (elements > budget) fail("shape", to_string(shape), "one within the memory budget");
  }

  /// Kernels, strides and dilations have one number per spatial dimension, pads have two.
  void check_spatial_lengths() const {
    const ::onnx::AttributeProto* kernel = find("kernel_shape");
    if (kernel == nullptr) return;
    const auto check = [&](std::string_view name, int per_dimension) {
      const ::onnx::AttributeProto* other = find(name);
      if (other == nullptr || other->ints_size() == 0) return;
      if (other->ints_size() != kernel->ints_size() * per_dimension) {
        fail(name, fmt::format("{} numbers", other->ints_size()),
             fmt::format("{} for kernel_shape's {}", kernel->ints_size() * per_dimension,
                         kernel->ints_size()));
      }
    };
    check("strides", 1);
    check("dilations", 1);
    check("output_padding", 1);
    check("pads", 2);
  }

  const ::onnx::AttributeProto* find(std::string_view name) const {
    for (const auto& attribute : node_.attribute()) {
      if (attribute.name() == name) return &attribute;
    }
    return nullptr;
  }

  const ::onnx::NodeProto& node_;
  const Source& source_;
};

}  // namespace

void check_attributes(const ::onnx::ModelProto& model, const Source& source) {
  for_each_node(model.graph(), [&](const ::onnx::NodeProto& node, int) {
    if (node.domain().empty()) NodeCheck(node, source).run();
  });
}

}  // namespace d5::onnx::detail
