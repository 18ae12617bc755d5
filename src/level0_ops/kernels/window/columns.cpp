// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/window/columns.hpp"

#include <algorithm>
#include <complex>

#include "level0_ops/kernels/accumulator.hpp"

namespace d5::detail {
namespace {

/// Output positions [begin, end) whose tap `k` is inside the input.
struct Span {
  std::int64_t begin, end;
};

Span inside(const WindowAxis& axis, std::int64_t k) {
  const std::int64_t first = axis.at(0, k);  // input position of output position 0
  const std::int64_t begin = first >= 0 ? 0 : (-first + axis.stride - 1) / axis.stride;
  const std::int64_t end = first >= axis.input ? 0 : (axis.input - 1 - first) / axis.stride + 1;
  return {std::min(begin, axis.output), std::clamp(end, std::int64_t{0}, axis.output)};
}

/// Calls `line(input_offset, in_range, column)` once for each row of the column matrix and each
/// output row: `column` is the offset of the row's elements, `in_range` the range of them inside
/// the input, and `input_offset` the input offset of the row's output position 0.
template <class Line>
void walk(const Window& window, std::int64_t channels, OutputRows rows, Line&& line) {
  const auto& [depth, height, width] = window.axes;
  std::int64_t column = 0;
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t kz = 0; kz < depth.kernel; ++kz) {
      for (std::int64_t ky = 0; ky < height.kernel; ++ky) {
        for (std::int64_t kx = 0; kx < width.kernel; ++kx) {
          const Span covered = inside(width, kx);
          for (std::int64_t row = rows.begin; row < rows.end; ++row, column += width.output) {
            const std::int64_t z = depth.at(row / height.output, kz);
            const std::int64_t y = height.at(row % height.output, ky);
            const bool padding = !depth.inside(z) || !height.inside(y);
            line(((c * depth.input + z) * height.input + y) * width.input + width.at(0, kx),
                 padding || covered.end <= covered.begin ? Span{0, 0} : covered, column);
          }
        }
      }
    }
  }
}

}  // namespace

template <class T>
void gather_columns(const Window& window, std::int64_t channels, OutputRows rows, const T* x,
                    T* columns) {
  const WindowAxis& width = window.axes[2];
  walk(window, channels, rows, [&](std::int64_t offset, Span covered, std::int64_t column) {
    T* to = columns + column;
    std::fill(to, to + covered.begin, T(0));
    if (width.stride == 1 && covered.begin < covered.end) {
      std::copy_n(x + offset + covered.begin, covered.end - covered.begin, to + covered.begin);
    } else {
      for (std::int64_t o = covered.begin; o < covered.end; ++o) {
        to[o] = x[offset + o * width.stride];
      }
    }
    std::fill(to + covered.end, to + width.output, T(0));
  });
}

template <class T>
void scatter_columns(const Window& window, std::int64_t channels, OutputRows rows, const T* columns,
                     T* x) {
  const std::int64_t stride = window.axes[2].stride;
  walk(window, channels, rows, [&](std::int64_t offset, Span covered, std::int64_t column) {
    const T* from = columns + column;
    for (std::int64_t o = covered.begin; o < covered.end; ++o) {
      T& sum = x[offset + o * stride];
      sum = T(Wrapping<T>(sum) + Wrapping<T>(from[o]));
    }
  });
}

template void gather_columns(const Window&, std::int64_t, OutputRows, const float*, float*);
template void gather_columns(const Window&, std::int64_t, OutputRows, const double*, double*);
template void scatter_columns(const Window&, std::int64_t, OutputRows, const float*, float*);
template void scatter_columns(const Window&, std::int64_t, OutputRows, const double*, double*);
template void scatter_columns(const Window&, std::int64_t, OutputRows, const std::int8_t*,
                              std::int8_t*);
template void scatter_columns(const Window&, std::int64_t, OutputRows, const std::int16_t*,
                              std::int16_t*);
template void scatter_columns(const Window&, std::int64_t, OutputRows, const std::int32_t*,
                              std::int32_t*);
template void scatter_columns(const Window&, std::int64_t, OutputRows, const std::int64_t*,
                              std::int64_t*);
template void scatter_columns(const Window&, std::int64_t, OutputRows, const std::uint8_t*,
                              std::uint8_t*);
template void scatter_columns(const Window&, std::int64_t, OutputRows, const std::uint16_t*,
                              std::uint16_t*);
template void scatter_columns(const Window&, std::int64_t, OutputRows, const std::uint32_t*,
                              std::uint32_t*);
template void scatter_columns(const Window&, std::int64_t, OutputRows, const std::uint64_t*,
                              std::uint64_t*);
template void scatter_columns(const Window&, std::int64_t, OutputRows, const bool*, bool*);
template void scatter_columns(const Window&, std::int64_t, OutputRows, const std::complex<float>*,
                              std::complex<float>*);
template void scatter_columns(const Window&, std::int64_t, OutputRows, const std::complex<double>*,
                              std::complex<double>*);

}  // namespace d5::detail
