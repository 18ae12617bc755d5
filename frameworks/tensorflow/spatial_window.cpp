// SPDX-License-Identifier: Apache-2.0
#include "spatial_window.hpp"

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5::tensorflow {

SpatialWindow::SpatialWindow(const Window& window)
    : window_(window), rank_(std::max<std::size_t>(window.rank, 2)) {
  for (std::size_t i = 0; i < rank_; ++i) {
    const WindowAxis& axis = this->axis(i);
    const std::int64_t read =
        (axis.output - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
    kernel_.push_back(axis.kernel);
    strides_.push_back(axis.stride);
    dilations_.push_back(axis.dilation);
    before_.push_back(axis.pad_begin);
    after_.push_back(std::max(axis.pad_end, read - axis.pad_begin - axis.input));
    padded_.push_back(before_[i] + axis.input + after_[i]);
  }
}

bool SpatialWindow::is_dilated() const {
  return std::ranges::any_of(dilations_, [](std::int64_t d) { return d != 1; });
}

bool SpatialWindow::may_miss_the_input() const {
  for (std::size_t i = 0; i < rank_; ++i) {
    if (std::max(before_[i], after_[i]) >= kernel_[i]) return true;
  }
  return false;
}

void SpatialWindow::expect_no_dilation(const std::string& who) const {
  if (is_dilated()) throw Unsupported(who + ": TensorFlow's pooling has no dilations");
}

Sizes SpatialWindow::with_channels(Sizes spatial) {
  spatial.insert(spatial.begin(), 1);
  spatial.push_back(1);
  return spatial;
}

Term SpatialWindow::lifted(Graph& graph, Term x) const {
  const Term last = graph.channels_last(x);
  if (window_.rank != 1) return last;
  const Shape shape = graph.shape(last);
  return graph.reshaped(last, {shape[0], 1, shape[1], shape[2]});
}

Term SpatialWindow::lowered(Graph& graph, Term y) const {
  if (window_.rank != 1) return graph.channels_first(y);
  const Shape shape = graph.shape(y);
  return graph.channels_first(graph.reshaped(y, {shape[0], shape[2], shape[3]}));
}

Term SpatialWindow::padded(Graph& graph, Term lifted, double value) const {
  Sizes amounts = {0, 0};
  for (std::size_t i = 0; i < rank_; ++i) {
    amounts.insert(amounts.end(), {before_[i], after_[i]});
  }
  if (std::ranges::all_of(amounts, [](std::int64_t amount) { return amount == 0; })) return lifted;
  amounts.insert(amounts.end(), {0, 0});
  const Term paddings = graph.reshaped(graph.integers(amounts), {std::int64_t(rank_) + 2, 2});
  return graph.add("PadV2", {lifted, paddings, graph.number(value, lifted)});
}

Term SpatialWindow::unpadded(Graph& graph, Term padded) const {
  const Shape shape = graph.shape(padded);
  Sizes begin(shape.rank(), 0), sizes(shape.begin(), shape.end());
  for (std::size_t i = 0; i < rank_; ++i) {
    begin[i + 1] = before_[i];
    sizes[i + 1] = axis(i).input;
  }
  return graph.add("Slice", {padded, graph.integers(begin), graph.integers(sizes)});
}

Tensor SpatialWindow::shares(bool counts_padding) const {
  Sizes dims = {1};
  for (std::size_t i = 0; i < rank_; ++i) dims.push_back(axis(i).output);
  dims.push_back(1);
  Tensor result = Tensor::empty(DType::float64, Shape(dims));
  const auto counted = [&](std::size_t i, std::int64_t o) {
    const WindowAxis& axis = window_.axes[i];
    std::int64_t count = 0;
    for (std::int64_t k = 0; k < axis.kernel; ++k) {
      const std::int64_t at = axis.at(o, k);
      count += counts_padding ? at < axis.input + axis.pad_end : axis.inside(at);
    }
    return count;
  };
  const auto values = result.span<double>();
  const auto whole = double(window_.kernel_size());
  window_.for_each_output([&](std::int64_t o, std::int64_t z, std::int64_t y, std::int64_t x) {
    const std::int64_t count = counted(0, z) * counted(1, y) * counted(2, x);
    values[std::size_t(o)] = count > 0 ? whole / double(count) : 0;
  });
  const bool trivial = std::ranges::all_of(values, [](double share) { return share == 1; });
  return trivial ? Tensor() : result;
}

}  // namespace d5::tensorflow
