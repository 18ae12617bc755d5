// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/compressors/parts/low_rank.hpp"

#include <algorithm>
#include <cmath>

namespace d5::detail {
namespace {

/// Sums in lanes, so that it vectorises: in one order, whatever the machine.
template <class Sum>
Sum dot(const float* a, const float* b, std::int64_t n) {
  constexpr std::int64_t kLanes = 16;
  Sum lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] += Sum(a[i + l]) * Sum(b[i + l]);
  }
  Sum sum = 0;
  for (; i < n; ++i) sum += Sum(a[i]) * Sum(b[i]);
  for (const Sum lane : lanes) sum += lane;
  return sum;
}

void add_scaled(float* into, float factor, const float* other, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) into[i] += factor * other[i];
}

}  // namespace

LowRankLayout::LowRankLayout(std::span<const GradientPart> parts, std::int64_t elements,
                             std::int64_t rank) {
  for (const GradientPart& part : parts) {
    const std::int64_t n = part.shape.elements();
    if (part.shape.rank() < 2 || n == 0) {
      whole_.push_back(part);
      whole_size_ += n;
      continue;
    }
    const std::int64_t rows = part.shape[0], columns = n / rows;
    const std::int64_t least = std::min({rank, rows, columns});
    matrices_.push_back({part.offset, rows, columns, least, p_size_, q_size_});
    p_size_ += least * rows;
    q_size_ += least * columns;
  }
  if (parts.empty()) {
    whole_.push_back({0, {elements}});
    whole_size_ = elements;
  }
}

void LowRankLayout::gather_whole(std::span<const float> bucket, std::span<float> whole) const {
  auto place = whole.begin();
  for (const GradientPart& part : whole_) {
    place = std::copy_n(bucket.begin() + part.offset, part.shape.elements(), place);
  }
}

void LowRankLayout::scatter_whole(std::span<const float> whole, std::span<float> bucket) const {
  auto place = whole.begin();
  for (const GradientPart& part : whole_) {
    std::copy_n(place, part.shape.elements(), bucket.begin() + part.offset);
    place += part.shape.elements();
  }
}

void multiply(const float* m, const LowRankMatrix& shape, const float* q, float* p) {
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    for (std::int64_t r = 0; r < shape.rank; ++r) {
      p[r * shape.rows + i] =
          dot<float>(m + i * shape.columns, q + r * shape.columns, shape.columns);
    }
  }
}

void multiply_transposed(const float* m, const LowRankMatrix& shape, const float* p, float* q) {
  std::fill_n(q, shape.rank * shape.columns, 0.0f);
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    for (std::int64_t r = 0; r < shape.rank; ++r) {
      add_scaled(q + r * shape.columns, p[r * shape.rows + i], m + i * shape.columns,
                 shape.columns);
    }
  }
}

void expand(const float* p, const float* q, const LowRankMatrix& shape, float* m) {
  std::fill_n(m, shape.rows * shape.columns, 0.0f);
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    for (std::int64_t r = 0; r < shape.rank; ++r) {
      add_scaled(m + i * shape.columns, p[r * shape.rows + i], q + r * shape.columns,
                 shape.columns);
    }
  }
}

void orthogonalise(float* p, const LowRankMatrix& shape) {
  const std::int64_t n = shape.rows;
  for (std::int64_t r = 0; r < shape.rank; ++r) {
    float* row = p + r * n;
    const double before = dot<double>(row, row, n);
    // Twice: what the first pass leaves of the others is rounding of a row that nearly depends on
    // them. Source: Giraud, Langou and Rozloznik (2005), "twice is enough".
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t other = 0; other < r; ++other) {
        const double along = dot<double>(row, p + other * n, n);
        add_scaled(row, static_cast<float>(-along), p + other * n, n);
      }
    }
    const double after = dot<double>(row, row, n);
    // Below some roundings of what it was (2^-24 each, squared), the row is rounding alone.
    constexpr double kRounding = 64 * 0x1p-24 * 0x1p-24;
    const bool depends = after <= kRounding * before;
    const auto factor = depends ? 0.0f : static_cast<float>(1 / std::sqrt(after));
    for (std::int64_t i = 0; i < n; ++i) row[i] *= factor;
  }
}

bool is_direction(std::span<const float> row) {
  const double norm = dot<double>(row.data(), row.data(), static_cast<std::int64_t>(row.size()));
  return std::isfinite(norm) && norm > 0;
}

}  // namespace d5::detail
