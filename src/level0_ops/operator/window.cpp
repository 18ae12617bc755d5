// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/window.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

// Limit of sizes, so that products of two stay far below 2^63.
constexpr std::int64_t kMostSize = std::int64_t{1} << 30;

void check_range(const onnx::Node& node, std::string_view name,
                 const std::vector<std::int64_t>& values, std::int64_t least) {
  for (const std::int64_t value : values) {
    if (value < least || value > kMostSize) {
      throw ValueError(fmt::format("{}: {} holds {}, expected numbers from {} to 2^30",
                                   onnx::describe(node), name, value, least));
    }
  }
}

std::int64_t get(const std::vector<std::int64_t>& values, std::size_t i, std::int64_t fallback) {
  return values.empty() ? fallback : values[i];
}

}  // namespace

std::int64_t Window::input_size() const { return axes[0].input * axes[1].input * axes[2].input; }
std::int64_t Window::kernel_size() const {
  return axes[0].kernel * axes[1].kernel * axes[2].kernel;
}
std::int64_t Window::output_size() const {
  return axes[0].output * axes[1].output * axes[2].output;
}

Shape Window::output_shape(std::int64_t batch, std::int64_t channels) const {
  Shape shape{batch, channels};
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t missing = axes.size() > rank ? axes.size() - rank : 0;
    shape.push_back(rank > axes.size() ? 1 : axes[missing + i].output);
  }
  (void)shape.elements();
  return shape;
}

WindowAttributes::WindowAttributes(const onnx::Node& node, Given given) : given_(std::move(given)) {
  check_range(node, "kernel_shape", given_.kernel_shape, 1);
  check_range(node, "strides", given_.strides, 1);
  check_range(node, "dilations", given_.dilations, 1);
  check_range(node, "pads", given_.pads, 0);
  check_range(node, "output_padding", given_.output_padding, 0);
  check_range(node, "output_shape", given_.output_shape, 1);
  if (given_.kernel_shape.size() > 3) {
    throw Unsupported(fmt::format("{}: kernel_shape has {} dimensions, at most 3 are supported",
                                  onnx::describe(node), given_.kernel_shape.size()));
  }
  const std::string& word = given_.auto_pad;
  if (word == "VALID") {
    padding_ = Padding::valid;
  } else if (word == "SAME_UPPER") {
    padding_ = Padding::same_upper;
  } else if (word == "SAME_LOWER") {
    padding_ = Padding::same_lower;
  } else if (word != "NOTSET" && !word.empty()) {
    throw ValueError(
        fmt::format("{}: auto_pad is '{}', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER",
                    onnx::describe(node), printable(word)));
  }
}

Window WindowAttributes::whole(const Shape& input, std::string_view who) {
  if (input.rank() < 3) {
    throw ShapeError(fmt::format("{}: input is {}, expected N x C and at least one spatial size",
                                 who, to_string(input)));
  }
  Window window;
  window.rank = input.rank() - 2;
  // Dimensions beyond the second are merged, because the order of taps does not matter here.
  window.axes[2].input = window.axes[2].kernel = input.elements(2, input.rank());
  return window;
}

Window WindowAttributes::unpadded(const Shape& input, const std::vector<std::int64_t>& kernel,
                                  std::string_view who) const {
  if (input.rank() < 3 || input.rank() > 5) {
    throw ShapeError(fmt::format("{}: input is {}, expected N x C and one to three spatial sizes",
                                 who, to_string(input)));
  }
  Window window;
  window.rank = input.rank() - 2;
  const auto check = [&](std::string_view name, std::size_t count, std::size_t expected) {
    if (count == 0 || count == expected) return;
    throw ShapeError(fmt::format("{}: {} has {} numbers, expected {} for an input of {}", who, name,
                                 count, expected, to_string(input)));
  };
  check("strides", given_.strides.size(), window.rank);
  check("dilations", given_.dilations.size(), window.rank);
  check("pads", given_.pads.size(), 2 * window.rank);
  check("output_padding", given_.output_padding.size(), window.rank);
  // Some exporters write the whole output shape.
  const bool whole = given_.output_shape.size() == input.rank();
  check("output_shape", given_.output_shape.size(), whole ? input.rank() : window.rank);
  if (kernel.size() != window.rank) {
    throw ShapeError(fmt::format("{}: the kernel has {} spatial sizes, but the input is {}", who,
                                 kernel.size(), to_string(input)));
  }
  for (std::size_t i = 0; i < window.rank; ++i) {
    WindowAxis& axis = window.axes[window.axes.size() - window.rank + i];
    axis.kernel = kernel[i];
    axis.stride = get(given_.strides, i, 1);
    axis.dilation = get(given_.dilations, i, 1);
    if (padding_ == Padding::explicitly) {
      axis.pad_begin = get(given_.pads, i, 0);
      axis.pad_end = get(given_.pads, i + window.rank, 0);
    }
  }
  // Refuses sizes whose product overflows.
  (void)Shape{window.axes[0].kernel, window.axes[1].kernel, window.axes[2].kernel}.elements();
  return window;
}

void WindowAttributes::share_padding(std::int64_t total, WindowAxis& axis) const {
  axis.pad_begin = padding_ == Padding::same_upper ? total / 2 : total - total / 2;
  axis.pad_end = total - axis.pad_begin;
}

Window WindowAttributes::resolve(const Shape& input, const std::vector<std::int64_t>& kernel,
                                 std::string_view who) const {
  Window window = unpadded(input, kernel, who);
  for (std::size_t i = 0; i < window.rank; ++i) {
    WindowAxis& axis = window.axes[window.axes.size() - window.rank + i];
    axis.input = input[i + 2];
    const std::int64_t extent = (axis.kernel - 1) * axis.dilation + 1;
    if (pads_to_same()) {
      axis.output = (axis.input + axis.stride - 1) / axis.stride;
      share_padding(
          std::max<std::int64_t>(0, (axis.output - 1) * axis.stride + extent - axis.input), axis);
      continue;
    }
    const std::int64_t room = axis.input + axis.pad_begin + axis.pad_end - extent;
    if (room < 0) {
      throw ShapeError(
          fmt::format("{}: the window covers {} along spatial dimension {}, but the "
                      "padded input has {}; add pads or shrink the kernel",
                      who, extent, i, room + extent));
    }
    axis.output = room / axis.stride + 1;
    // A last, partial window counts if it begins before the end padding.
    if (given_.ceil_mode && padding_ == Padding::explicitly && room % axis.stride != 0 &&
        axis.output * axis.stride < axis.input + axis.pad_begin) {
      ++axis.output;
    }
  }
  return window;
}

Window WindowAttributes::resolve_transposed(const Shape& input,
                                            const std::vector<std::int64_t>& kernel,
                                            std::string_view who) const {
  Window window = unpadded(input, kernel, who);
  const std::vector<std::int64_t>& wanted = given_.output_shape;
  for (std::size_t i = 0; i < window.rank; ++i) {
    WindowAxis& axis = window.axes[window.axes.size() - window.rank + i];
    axis.output = input[i + 2];
    const std::int64_t full = axis.stride * (axis.output - 1) + get(given_.output_padding, i, 0) +
                              axis.dilation * (axis.kernel - 1) + 1;
    if (!wanted.empty() || pads_to_same()) {
      axis.input =
          wanted.empty() ? axis.output * axis.stride : wanted[wanted.size() - window.rank + i];
      share_padding(std::max<std::int64_t>(0, full - axis.input), axis);
    } else {
      axis.input = full - axis.pad_begin - axis.pad_end;
    }
    if (axis.input < 1) {
      throw ShapeError(fmt::format(
          "{}: the output would have {} elements along spatial dimension {}; reduce the pads", who,
          axis.input, i));
    }
  }
  return window;
}

}  // namespace d5
