// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "level0_ops/kernels/chunks.hpp"
#include "level0_ops/kernels/matrix/matrix_product.hpp"
#include "level0_ops/kernels/window/columns.hpp"
#include "level0_ops/kernels/window/convolution.hpp"

namespace d5::detail {

/// Convolution as matrix products over columns, tile by tile: y[n, m] = b[m] + sum over c of
/// w[m, c] * x[n, c], and its transposes. `A` is float or double.
///
/// Accumulation order is fixed for a given number of threads.
template <class A>
class ColumnConvolution {
 public:
  /// `copies_columns`: copies columns even if the input itself is the matrix of columns, as needed
  /// by `input_gradient`.
  explicit ColumnConvolution(const ConvolutionSizes& sizes, bool copies_columns = false)
      : s_(sizes) {
    const std::int64_t row = std::max<std::int64_t>(1, depth() * width());
    rows_per_tile_ = std::clamp<std::int64_t>(kTileBytes / std::int64_t(sizeof(A)) / row, 1,
                                              std::max<std::int64_t>(1, rows()));
    tiles_ = (rows() + rows_per_tile_ - 1) / rows_per_tile_;
    chunks_ = Chunks(s_.batch * s_.group * tiles_,
                     double(s_.batch) * double(weight_count()) * double(area()));
    if (!pointwise() || copies_columns) {
      columns_size_ = Shape{depth(), width(), rows_per_tile_}.elements();
    }
  }

  std::int64_t filters() const { return s_.group * s_.filters; }
  /// The size of `y` per filter and sample.
  std::int64_t area() const { return s_.window.output_size(); }
  /// Number of scratch elements of `forward` and `input_gradient`; `weight_gradient` needs both.
  std::int64_t scratch_length() const { return chunks_.count() * columns_size_; }
  std::int64_t weight_scratch_length() const { return (chunks_.count() - 1) * weight_count(); }

  /// `b` may be null.
  void forward(const A* x, const A* w, const A* b, A* y, A* scratch) const {
    forward_of(gather_from(x), w, b, y, scratch);
  }
  void input_gradient(const A* w, const A* dy, A* dx, A* scratch) const {
    chunks_.for_each(s_.batch * s_.group, [&](std::int64_t, std::int64_t plane) {
      std::fill_n(dx + plane * input_size(), input_size(), A(0));
    });
    input_gradient_to(
        [&](std::int64_t plane, OutputRows tile, const A* columns) {
          scatter_columns(s_.window, s_.channels, tile, columns, dx + plane * input_size());
        },
        1, w, dy, scratch);
  }
  void weight_gradient(const A* x, const A* dy, A* dw, A* scratch) const {
    weight_gradient_of(gather_from(x), dy, dw, scratch);
  }

  /// Forward with columns from `gather(plane, tile, columns)`, which writes them to `columns` or
  /// has them elsewhere, and returns their address. A plane is one group of one sample.
  template <class Gather>
  void forward_of(const Gather& gather, const A* w, const A* b, A* y, A* scratch) const {
    for_each_tile([&](std::int64_t chunk, std::int64_t plane, OutputRows tile) {
      const MatrixView<const A> columns = gather(plane, tile, scratch + chunk * columns_size_);
      const MatrixView<A> out = output_view(y, plane, tile);
      const std::int64_t g = plane % s_.group;
      for (std::int64_t m = 0; b && m < out.rows; ++m) {
        std::fill_n(out.data + m * out.stride, out.columns, b[g * s_.filters + m]);
      }
      matrix_product<A>(weights_view(w, g), columns, out, A(1), b ? A(1) : A(0));
    });
  }

  /// Calls `scatter(plane, tile, columns)` for the gradient of all columns; `together` consecutive
  /// planes are on one thread.
  template <class Scatter>
  void input_gradient_to(const Scatter& scatter, std::int64_t together, const A* w, const A* dy,
                         A* scratch) const {
    const std::int64_t tasks = s_.batch * s_.group / together;
    chunks_.for_each(tasks, [&](std::int64_t chunk, std::int64_t task) {
      A* columns = scratch + chunk * columns_size_;
      for (std::int64_t plane = task * together; plane < (task + 1) * together; ++plane) {
        const auto weights = transpose(weights_view(w, plane % s_.group));
        for (std::int64_t t = 0; t < tiles_; ++t) {
          const OutputRows tile = tile_rows(t);
          const auto gradient = output_view(dy, plane, tile);
          matrix_product<A>(weights, gradient,
                            {columns, depth(), gradient.columns, gradient.columns});
          scatter(plane, tile, columns);
        }
      }
    });
  }

  template <class Gather>
  void weight_gradient_of(const Gather& gather, const A* dy, A* dw, A* scratch) const {
    const std::int64_t size = weight_count();
    // After the columns, each chunk except the first sums its own gradient.
    A* own_sums = scratch + scratch_length();
    const auto sum_of = [&](std::int64_t chunk) {
      return chunk == 0 ? dw : own_sums + (chunk - 1) * size;
    };
    for (std::int64_t c = 0; c < chunks_.count(); ++c) std::fill_n(sum_of(c), size, A(0));
    for_each_tile([&](std::int64_t chunk, std::int64_t plane, OutputRows tile) {
      const MatrixView<const A> columns = gather(plane, tile, scratch + chunk * columns_size_);
      matrix_product<A>(
          output_view(dy, plane, tile), transpose(columns),
          {sum_of(chunk) + plane % s_.group * s_.filters * depth(), s_.filters, depth(), depth()},
          A(1), A(1));
    });
    for (std::int64_t chunk = 1; chunk < chunks_.count(); ++chunk) {
      const A* other = sum_of(chunk);
      for (std::int64_t i = 0; i < size; ++i) dw[i] += other[i];
    }
  }

 private:
  // A tile of columns fits in the second-level cache.
  static constexpr std::int64_t kTileBytes = 1 << 20;

  std::int64_t width() const { return s_.window.axes[2].output; }
  std::int64_t rows() const { return s_.window.axes[0].output * s_.window.axes[1].output; }
  /// The inner size of the products.
  std::int64_t depth() const { return s_.channels * s_.window.kernel_size(); }
  std::int64_t weight_count() const { return filters() * depth(); }
  /// Whether the input itself is the matrix of columns.
  bool pointwise() const {
    return std::all_of(s_.window.axes.begin(), s_.window.axes.end(), [](const WindowAxis& axis) {
      return axis.kernel == 1 && axis.stride == 1 && axis.pad_begin == 0 && axis.pad_end == 0;
    });
  }

  OutputRows tile_rows(std::int64_t tile) const {
    return {tile * rows_per_tile_, std::min((tile + 1) * rows_per_tile_, rows())};
  }
  /// Calls `body(chunk, plane, rows)` for every tile.
  template <class F>
  void for_each_tile(const F& body) const {
    chunks_.for_each(s_.batch * s_.group * tiles_, [&](std::int64_t chunk, std::int64_t task) {
      body(chunk, task / tiles_, tile_rows(task % tiles_));
    });
  }

  auto gather_from(const A* x) const {
    return [this, x](std::int64_t plane, OutputRows tile, A* columns) -> MatrixView<const A> {
      const A* from = x + plane * input_size();
      const std::int64_t count = (tile.end - tile.begin) * width();
      if (pointwise()) return {from + tile.begin * width(), depth(), count, area()};
      gather_columns(s_.window, s_.channels, tile, from, columns);
      return {columns, depth(), count, count};
    };
  }
  std::int64_t input_size() const { return s_.channels * s_.window.input_size(); }
  MatrixView<const A> weights_view(const A* w, std::int64_t g) const {
    return {w + g * s_.filters * depth(), s_.filters, depth(), depth()};
  }
  template <class U>
  MatrixView<U> output_view(U* y, std::int64_t plane, OutputRows tile) const {
    return {y + plane * s_.filters * area() + tile.begin * width(), s_.filters,
            (tile.end - tile.begin) * width(), area()};
  }
  template <class U>
  static MatrixView<const U> transpose(const MatrixView<const U>& m) {
    return {m.data, m.columns, m.rows, m.stride, true};
  }

  ConvolutionSizes s_;
  Chunks chunks_;
  std::int64_t rows_per_tile_ = 1, tiles_ = 0;
  std::int64_t columns_size_ = 0;  // size per chunk; 0 if no columns are written
};

}  // namespace d5::detail
