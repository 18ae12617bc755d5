// SPDX-License-Identifier: Apache-2.0
// Coordinates of a resized tensor's elements in the original. Until opset 10 they are asymmetric;
// from 11 on an attribute chooses, with half-pixel centres as the default.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "d5/core/errors/error.hpp"
#include "onnx/opset/opset_step.hpp"

namespace d5::onnx::detail {
namespace {

constexpr int kWithCoordinates = 11;  ///< opset

using Scales = std::vector<float>;

void convert_upsample_sizes(OpsetStep& step, Node node) {
  const auto height = taken<float>(node, "height_scale"), width = taken<float>(node, "width_scale");
  node.attributes["scales"] = Scales{1, 1, height.value_or(1), width.value_or(1)};
  step.add(std::move(node));
}

void convert_upsample_scales(OpsetStep& step, Node node) {
  step.set_input(node, 1, "scales",
                 Tensor::vector(taken<Scales>(node, "scales").value_or(Scales{})));
  step.add(std::move(node));
}

std::string filter_of(const Node& node) {
  const auto* mode = node.attribute<std::string>("mode");
  if (!mode) return "nearest";
  return *mode == "bilinear" ? "linear" : *mode;
}

/// Adds a Resize of opset 11 with the behaviour of earlier versions.
void add_resize(OpsetStep& step, Node node, const std::string& scales, const char* rounding) {
  node.op_type = "Resize";
  node.opset = kWithCoordinates;
  node.attributes["mode"] = filter_of(node);
  node.attributes["coordinate_transformation_mode"] = std::string("asymmetric");
  node.attributes["nearest_mode"] = std::string(rounding);
  const std::string roi = step.constant(node.outputs.front() + ".roi", Tensor::vector(Scales{}));
  node.inputs = {node.inputs.front(), roi, scales};
  step.add(std::move(node));
}

/// Upsample only enlarges, and repeats the preceding element.
void convert_upsample(OpsetStep& step, Node node) {
  if (step.last() >= kWithCoordinates) {
    const std::string scales = node.inputs.at(1);
    return add_resize(step, std::move(node), scales, "floor");
  }
  node.attributes["mode"] = filter_of(node);
  node.op_type = "Resize";
  step.add(std::move(node));
}

/// In mode "nearest", an enlarged axis rounds down, and a shrunk one rounds up.
void convert_resize(OpsetStep& step, Node node) {
  const std::string scales = node.inputs.at(1);
  if (filter_of(node) != "nearest") return add_resize(step, std::move(node), scales, "floor");
  const Tensor* known = step.value(scales);
  if (!known || known->dtype() != DType::float32) {
    refuse_conversion(node, fmt::format("its scales '{}' are not constant: in opset 10 'nearest' "
                                        "rounds down where a tensor grows, and up where it shrinks",
                                        printable(scales)));
  }
  const auto span = known->span<float>();
  Scales growing(span.begin(), span.end()), shrinking = growing;
  for (float& scale : growing) scale = std::max(scale, 1.0F);
  for (float& scale : shrinking) scale = std::min(scale, 1.0F);
  const auto changes = [](const Scales& list) {
    return std::ranges::any_of(list, [](float scale) { return scale != 1; });
  };
  if (!changes(shrinking)) return add_resize(step, std::move(node), scales, "floor");
  if (!changes(growing)) return add_resize(step, std::move(node), scales, "ceil");
  const std::string& y = node.outputs.front();
  Node first = node;
  first.name.clear();
  first.outputs = {step.unused_name(y + ".smaller")};
  node.inputs.front() = first.outputs.front();
  const std::string by = step.constant(y + ".shrinking", Tensor::vector(shrinking));
  add_resize(step, std::move(first), by, "ceil");
  const std::string then_by = step.constant(y + ".growing", Tensor::vector(growing));
  add_resize(step, std::move(node), then_by, "floor");
}

/// `tf_half_pixel_for_nn` is `half_pixel` plus half an element; it was removed in opset 13.
void convert_half_pixel(OpsetStep& step, Node node) {
  const auto* coordinates = node.attribute<std::string>("coordinate_transformation_mode");
  if (coordinates && *coordinates == "tf_half_pixel_for_nn") {
    const auto* given = node.attribute<std::string>("nearest_mode");
    const std::string rounding = given ? *given : "round_prefer_floor";
    const bool down = rounding == "floor";
    if (filter_of(node) != "nearest" || (!down && rounding != "round_prefer_floor")) {
      refuse_conversion(
          node, fmt::format("coordinate_transformation_mode tf_half_pixel_for_nn with mode {} and "
                            "nearest_mode {} has no counterpart from opset 13 on",
                            filter_of(node), rounding));
    }
    node.attributes["coordinate_transformation_mode"] = std::string("half_pixel");
    node.attributes["nearest_mode"] = std::string(down ? "round_prefer_ceil" : "ceil");
  }
  step.add(std::move(node));
}

void convert_roi_align(OpsetStep& step, Node node) {
  node.attributes["coordinate_transformation_mode"] = std::string("output_half_pixel");
  step.add(std::move(node));
}

void convert_grid_sample(OpsetStep& step, Node node) {
  if (auto mode = taken<std::string>(node, "mode")) {
    if (*mode == "bilinear" || *mode == "bicubic") mode = mode->substr(2);
    node.attributes["mode"] = *mode;
  }
  step.add(std::move(node));
}

}  // namespace

OpsetChanges resampling_changes() {
  return {{7, {"Upsample"}, convert_upsample_sizes}, {9, {"Upsample"}, convert_upsample_scales},
          {10, {"Upsample"}, convert_upsample},      {11, {"Resize"}, convert_resize},
          {13, {"Resize"}, convert_half_pixel},      {16, {"RoiAlign"}, convert_roi_align},
          {20, {"GridSample"}, convert_grid_sample}};
}

}  // namespace d5::onnx::detail
