// SPDX-License-Identifier: Apache-2.0
// Attributes that became inputs: shapes, axes, limits.
#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/dtype.hpp"
#include "onnx/opset/opset_step.hpp"

namespace d5::onnx::detail {
namespace {

using Integers = std::vector<std::int64_t>;

/// `number` as a scalar of the element type of input 0.
Tensor scalar_like_input(const OpsetStep& step, const Node& node, float number) {
  Tensor result;
  const DType dtype = step.dtype(node, node.inputs.front());
  dispatch(FloatTypes{}, dtype, describe(node),
           [&]<class T>() { result = Tensor::scalar<T>(T(number)); });
  return result;
}

/// Converts an optional list of integers to a vector as input `i`.
auto integers_become_input(const char* name, std::size_t i) {
  return [=](OpsetStep& step, Node node) {
    const auto list = taken<Integers>(node, name);
    // An empty list means all axes in both versions.
    if (list && !list->empty()) step.set_input(node, i, name, Tensor::vector(*list));
    step.add(std::move(node));
  };
}

void convert_reshape(OpsetStep& step, Node node) {
  step.set_input(node, 1, "shape",
                 Tensor::vector(taken<Integers>(node, "shape").value_or(Integers{})));
  step.add(std::move(node));
}

/// Converts a pair of axis and count to counts for all axes.
void convert_tile(OpsetStep& step, Node node) {
  const auto number = [&](std::size_t i) {
    const Tensor* value = node.has_input(i) ? step.value(node.inputs[i]) : nullptr;
    if (!value) refuse_conversion(node, "its tiles and axis are not constant");
    double result = 0;
    dispatch(Types<float, double, std::int32_t, std::int64_t>{}, value->dtype(), describe(node),
             [&]<class T>() { result = double(value->item<T>()); });
    return std::int64_t(result);
  };
  const std::int64_t tiles = number(1), axis = number(2);
  Integers repeats(step.rank(node, node.inputs.front()), 1);
  const std::int64_t place = axis < 0 ? axis + std::int64_t(repeats.size()) : axis;
  if (place < 0 || place >= std::int64_t(repeats.size())) {
    refuse_conversion(node, fmt::format("axis {} is none of {}", axis, repeats.size()));
  }
  repeats[std::size_t(place)] = tiles;
  node.inputs.resize(1);
  step.set_input(node, 1, "repeats", Tensor::vector(repeats));
  step.add(std::move(node));
}

void convert_slice(OpsetStep& step, Node node) {
  const auto starts = taken<Integers>(node, "starts"), ends = taken<Integers>(node, "ends");
  const auto axes = taken<Integers>(node, "axes");
  step.set_input(node, 1, "starts", Tensor::vector(starts.value_or(Integers{})));
  step.set_input(node, 2, "ends", Tensor::vector(ends.value_or(Integers{})));
  if (axes) step.set_input(node, 3, "axes", Tensor::vector(*axes));
  step.add(std::move(node));
}

void convert_top_k(OpsetStep& step, Node node) {
  step.set_input(node, 1, "k",
                 Tensor::vector(Integers{taken<std::int64_t>(node, "k").value_or(1)}));
  step.add(std::move(node));
}

/// An omitted limit is the largest float32, which clips infinities; float16 cannot represent it.
void convert_clip(OpsetStep& step, Node node) {
  constexpr float kEnd = std::numeric_limits<float>::max();
  const auto least = taken<float>(node, "min"), most = taken<float>(node, "max");
  const bool ends_before = step.dtype(node, node.inputs.front()) == DType::float16;
  const auto set = [&](std::size_t i, const char* name, std::optional<float> limit, float end) {
    if (!limit && ends_before) return;
    step.set_input(node, i, name, scalar_like_input(step, node, limit.value_or(end)));
  };
  set(1, "min", least, -kEnd);
  set(2, "max", most, kEnd);
  step.add(std::move(node));
}

void convert_pad(OpsetStep& step, Node node) {
  const auto pads = taken<Integers>(node, "pads");
  const auto fill = taken<float>(node, "value");
  step.set_input(node, 1, "pads", Tensor::vector(pads.value_or(Integers{})));
  if (fill.value_or(0) != 0) {
    step.set_input(node, 2, "fill", scalar_like_input(step, node, *fill));
  }
  step.add(std::move(node));
}

void convert_dropout(OpsetStep& step, Node node) {
  constexpr float kUsual = 0.5;
  step.set_input(node, 1, "ratio", Tensor::scalar(taken<float>(node, "ratio").value_or(kUsual)));
  step.add(std::move(node));
}

void convert_split(OpsetStep& step, Node node) {
  if (const auto split = taken<Integers>(node, "split")) {
    step.set_input(node, 1, "split", Tensor::vector(*split));
  }
  step.add(std::move(node));
}

void count_parts(OpsetStep& step, Node node) {
  if (!node.has_input(1)) node.attributes["num_outputs"] = std::int64_t(node.outputs.size());
  step.add(std::move(node));
}

void convert_dft(OpsetStep& step, Node node) {
  step.set_input(node, 2, "axis", Tensor::scalar(taken<std::int64_t>(node, "axis").value_or(1)));
  step.add(std::move(node));
}

}  // namespace

OpsetChanges input_changes() {
  const auto axes_become_input = integers_become_input("axes", 1);
  return {{5, {"Reshape"}, convert_reshape},
          {6, {"Tile"}, convert_tile},
          {10, {"Slice"}, convert_slice},
          {10, {"TopK"}, convert_top_k},
          {11, {"Clip"}, convert_clip},
          {11, {"Pad"}, convert_pad},
          {12, {"Dropout"}, convert_dropout},
          {13, {"Split"}, convert_split},
          {13, {"ReduceSum", "Squeeze", "Unsqueeze"}, axes_become_input},
          {18, {"Split"}, count_parts},
          {18,
           {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
            "ReduceMin", "ReduceProd", "ReduceSumSquare"},
           axes_become_input},
          {20, {"DFT"}, convert_dft}};
}

}  // namespace d5::onnx::detail
