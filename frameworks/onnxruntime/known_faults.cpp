// SPDX-License-Identifier: Apache-2.0
#include "known_faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "d5/onnx/nodes.hpp"
#include "learned_model_faults.hpp"

namespace d5::onnxruntime {
namespace {

namespace nodes = onnx::nodes;

std::string in_affine_grid(const KnownNode& known) {
  if (nodes::AffineGrid(known.node).align_corners() == 0) return {};
  const Tensor* sizes = known.constant(nodes::AffineGrid::In::size);
  if (!sizes)
    return "align_corners with sizes that are not constant: it places the point of a size of 1 "
           "differently";
  const auto dims = sizes->span<std::int64_t>();
  if (dims.size() < 2) return {};
  const bool one = std::ranges::find(dims.begin() + 2, dims.end(), 1) != dims.end();
  return one ? "align_corners with a size of 1, whose point it places differently" : "";
}

/// Size of a dimension; a negative index counts from the last. Empty if unknown.
std::optional<std::int64_t> size_of(const onnx::Type& type, int place) {
  const int i = place < 0 ? int(type.dims.size()) + place : place;
  if (!type.has_shape || i < 0 || i >= int(type.dims.size())) return std::nullopt;
  const auto* size = std::get_if<std::int64_t>(&type.dims[std::size_t(i)]);
  return size ? std::optional(*size) : std::nullopt;
}

/// ONNX Runtime reports an error about the mask at run time.
std::string in_attention(const KnownNode& known) {
  using In = nodes::Attention::In;
  if (!known.node.domain.empty() || !known.node.has_input(In::attn_mask)) return {};
  const onnx::Type mask = known.type(In::attn_mask), q = known.type(In::Q), k = known.type(In::K);
  if (mask.has_shape && mask.dims.size() < 2) return "a mask of fewer than two dimensions";
  const auto queries = size_of(q, q.dims.size() == 3 ? 1 : 2);
  auto keys = size_of(k, k.dims.size() == 3 ? 1 : 2);
  if (keys && known.node.has_input(In::past_key)) {
    const auto past = size_of(known.type(In::past_key), 2);
    keys = past ? std::optional(*keys + *past) : std::nullopt;
  }
  const auto differs = [](std::optional<std::int64_t> size, std::optional<std::int64_t> other) {
    return size && other && *size != *other;
  };
  const bool is_other = differs(size_of(mask, -2), queries) || differs(size_of(mask, -1), keys);
  return is_other ? "a mask whose last two sizes are not those of queries and keys" : "";
}

/// The padding would be negative.
std::string in_auto_pad(const KnownNode& known) {
  const auto* way = known.node.attribute<std::string>("auto_pad");
  const auto* strides = known.node.attribute<std::vector<std::int64_t>>("strides");
  if (!way || !strides || !way->starts_with("SAME")) return {};
  const auto* told = known.node.attribute<std::vector<std::int64_t>>("kernel_shape");
  const std::vector<onnx::Dim> weights = told ? std::vector<onnx::Dim>() : known.type(1).dims;
  for (std::size_t i = 0; i < strides->size(); ++i) {
    std::int64_t window = told && i < told->size() ? (*told)[i] : 1;
    if (i + 2 < weights.size()) {
      const auto* size = std::get_if<std::int64_t>(&weights[i + 2]);
      window = size ? *size : 1;
    }
    if ((*strides)[i] > std::max<std::int64_t>(window, 1)) {
      return "auto_pad with strides wider than the window";
    }
  }
  return {};
}

std::string in_cast(const KnownNode& known) {
  const bool to_text = known.node.op_type == "CastLike"
                           ? known.type(1).dtype == DType::string
                           : nodes::Cast(known.node).to() == std::int64_t(DType::string);
  return to_text && known.type(0).dtype == DType::boolean ? "texts of bool, which it writes as 1"
                                                          : "";
}

std::string in_celu(const KnownNode& known) {
  return nodes::Celu(known.node).alpha() == 0 ? "alpha=0, by which it divides" : "";
}

/// ONNX Runtime reads a missing input.
std::string in_left_out(const KnownNode& known) {
  const auto& inputs = known.node.inputs;
  return !inputs.empty() && inputs.back().empty()
             ? "a last input omitted by an empty name; end the list before it instead"
             : "";
}

std::string in_dft(const KnownNode& known) {
  const auto* inverse = known.node.attribute<std::int64_t>("inverse");
  const auto* onesided = known.node.attribute<std::int64_t>("onesided");
  if (inverse && onesided && *inverse != 0 && *onesided != 0) {
    return "inverse with onesided, which it computes differently";
  }
  return in_left_out(known);
}

std::string in_gather(const KnownNode& known) {
  const onnx::Type data = known.type(0);
  if (data.dtype != DType::string) return {};
  const auto rank = std::int64_t(data.dims.size());
  const auto* told = known.node.attribute<std::int64_t>("axis");
  const std::int64_t axis = told ? *told + (*told < 0 ? rank : 0) : 0;
  bool is_one = data.has_shape && axis >= 0;
  for (std::int64_t i = axis + 1; is_one && i < rank; ++i) {
    is_one = data.dims[std::size_t(i)] == onnx::Dim(std::int64_t{1});
  }
  return is_one ? "" : "slices of several strings, of which it copies only the first";
}

std::string in_gather_nd(const KnownNode& known) {
  const auto* dims = known.node.attribute<std::int64_t>("batch_dims");
  return dims && *dims < 0 ? "batch_dims below 0" : "";
}

std::string in_max_pool(const KnownNode& known) {
  constexpr std::int64_t kMost = 1 << 20;
  const auto* kernel = known.node.attribute<std::vector<std::int64_t>>("kernel_shape");
  const auto is_huge = [](std::int64_t size) { return size > kMost; };
  return kernel && std::ranges::any_of(*kernel, is_huge)
             ? "windows of millions of elements, padding included, which it visits one by one"
             : "";
}

std::string in_shrink(const KnownNode& known) {
  return known.type(0).dtype == DType::float64 ? "float64, from which it takes a float32" : "";
}

std::string in_max_unpool(const KnownNode& known) {
  return known.node.has_input(nodes::MaxUnpool::In::output_shape)
             ? "output_shape, in which it takes indices for places"
             : "";
}

/// ONNX Runtime computes the variance as a difference of squares, which may be negative.
std::string in_mean_variance(const KnownNode& known) {
  const onnx::Type x = known.type(0);
  const auto* told = known.node.attribute<std::vector<std::int64_t>>("axes");
  const auto rank = std::int64_t(x.dims.size());
  const auto is_one = [&](std::int64_t axis) {
    if (axis < 0) axis += rank;
    return axis >= 0 && axis < rank && x.dims[std::size_t(axis)] == onnx::Dim(std::int64_t{1});
  };
  const std::vector<std::int64_t> axes = told ? *told : std::vector<std::int64_t>{0, 2, 3};
  return std::ranges::all_of(axes, is_one) ? "means of one element, whose variance it misses" : "";
}

/// ONNX Runtime reports an error at run time.
std::string in_multi_head_attention(const KnownNode& known) {
  const auto is_packed = [&](std::size_t i) { return known.type(i).dims.size() == 5; };
  return is_packed(0) || is_packed(1) ? "queries, keys and values that are packed into one tensor"
                                      : "";
}

std::string in_non_zero(const KnownNode& known) {
  const onnx::Type type = known.type(0);
  return type.has_shape && type.dims.empty() ? "a scalar, which it takes for a list" : "";
}

/// The C++ library aborts the process.
std::string in_random_normal(const KnownNode& known) {
  const auto* scale = known.node.attribute<float>("scale");
  return scale && *scale <= 0 ? "a scale that is not above 0" : "";
}

std::string in_random_uniform(const KnownNode& known) {
  const auto bound = [&](const char* name, float usual) {
    const auto* number = known.node.attribute<float>(name);
    return number ? *number : usual;
  };
  const float low = bound("low", 0), high = bound("high", 1);
  return low <= high && std::isfinite(high - low)
             ? ""
             : "bounds that are infinite or reversed, which crash the process";
}

std::string in_window(const KnownNode& known) {
  const auto* type = known.node.attribute<std::int64_t>("output_datatype");
  return type && *type != std::int64_t(DType::float32)
             ? "windows other than of float32, in which it computes them"
             : "";
}

constexpr ModelFault kFaults[] = {{"AffineGrid", in_affine_grid},
                                  {"Attention", in_attention},
                                  {"AveragePool", in_auto_pad},
                                  {"BlackmanWindow", in_window},
                                  {"Cast", in_cast},
                                  {"CastLike", in_cast},
                                  {"Celu", in_celu},
                                  {"Conv", in_auto_pad},
                                  {"ConvInteger", in_auto_pad},
                                  {"DFT", in_dft},
                                  {"FusedConv", in_auto_pad},
                                  {"Gather", in_gather},
                                  {"GatherND", in_gather_nd},
                                  {"HammingWindow", in_window},
                                  {"HannWindow", in_window},
                                  {"LayerNormalization", in_left_out},
                                  {"LinearClassifier", in_linear_classifier},
                                  {"LinearRegressor", in_linear_regressor},
                                  {"MaxPool", in_max_pool},
                                  {"MaxUnpool", in_max_unpool},
                                  {"MeanVarianceNormalization", in_mean_variance},
                                  {"MultiHeadAttention", in_multi_head_attention},
                                  {"NonZero", in_non_zero},
                                  {"RandomNormal", in_random_normal},
                                  {"RandomNormalLike", in_random_normal},
                                  {"RandomUniform", in_random_uniform},
                                  {"RandomUniformLike", in_random_uniform},
                                  {"SVMClassifier", in_svm_classifier},
                                  {"SVMRegressor", in_svm_regressor},
                                  {"Shrink", in_shrink},
                                  {"TreeEnsemble", in_tree_ensemble},
                                  {"TreeEnsembleClassifier", in_tree_classifier},
                                  {"TreeEnsembleRegressor", in_tree_regressor}};

}  // namespace

std::span<const ModelFault> known_faults() { return kFaults; }

void expect_no_fault_of_last_level(const onnx::Model& model) {
  const auto& graph = model.graph;
  // A permutation of three dimensions that puts the second first; an output of the network is not
  // fused.
  const auto swaps_batch = [&](const std::string& name) {
    const bool leaves =
        std::ranges::find(graph.outputs, name, &onnx::ValueInfo::name) != graph.outputs.end();
    return !leaves && std::ranges::any_of(graph.nodes, [&](const onnx::Node& node) {
      const auto* order = node.attribute<std::vector<std::int64_t>>("perm");
      return node.op_type == "Transpose" && node.outputs.front() == name && order &&
             order->size() == 3 && order->front() == 1;
    });
  };
  for (const onnx::Node& node : graph.nodes) {
    if (node.op_type != "MatMul" || !node.domain.empty()) continue;
    for (const std::size_t i : {0, 1}) {
      const auto weights = graph.initializers.find(node.inputs[i]);
      if (weights == graph.initializers.end() || weights->second.dtype() != DType::float16)
        continue;
      if (weights->second.shape().rank() > 2 || !swaps_batch(node.inputs[1 - i])) continue;
      throw Unsupported(
          fmt::format("{}: ONNX Runtime's highest optimization level crashes the process for a "
                      "product of float16 by a constant behind a Transpose of three dimensions "
                      "that puts the second first; choose optimization=extended",
                      onnx::describe(node)));
    }
  }
}

}  // namespace d5::onnxruntime
