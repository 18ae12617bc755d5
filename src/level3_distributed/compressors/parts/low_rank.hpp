// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "d5/level3_distributed/gradient_compressor.hpp"

namespace d5::detail {

/// A matrix M (rows x columns) of a bucket, and where its factors lie: P as `rank` rows of `rows`
/// elements, Q as `rank` rows of `columns`.
struct LowRankMatrix {
  std::int64_t offset, rows, columns, rank, p_offset, q_offset;
};

/// Which parts of a bucket are matrices, and which are sent whole.
class LowRankLayout {
 public:
  LowRankLayout(std::span<const GradientPart> parts, std::int64_t elements, std::int64_t rank);
  [[nodiscard]] const std::vector<LowRankMatrix>& matrices() const { return matrices_; }
  [[nodiscard]] std::int64_t p_size() const { return p_size_; }
  [[nodiscard]] std::int64_t q_size() const { return q_size_; }
  [[nodiscard]] std::int64_t whole_size() const { return whole_size_; }
  [[nodiscard]] std::size_t p_begin_of_whole() const { return static_cast<std::size_t>(p_size_); }
  void gather_whole(std::span<const float> bucket, std::span<float> whole) const;
  void scatter_whole(std::span<const float> whole, std::span<float> bucket) const;

 private:
  std::vector<LowRankMatrix> matrices_;
  std::vector<GradientPart> whole_;
  std::int64_t p_size_ = 0, q_size_ = 0, whole_size_ = 0;
};

/// P = M Q.
void multiply(const float* m, const LowRankMatrix& shape, const float* q, float* p);
/// Q = M^T P.
void multiply_transposed(const float* m, const LowRankMatrix& shape, const float* p, float* q);
/// M = P Q^T.
void expand(const float* p, const float* q, const LowRankMatrix& shape, float* m);
/// P's rows become orthonormal (modified Gram and Schmidt); one that depends on those before it
/// becomes zero.
void orthogonalise(float* p, const LowRankMatrix& shape);
/// Whether the norm is finite and not zero.
[[nodiscard]] bool is_direction(std::span<const float> row);

}  // namespace d5::detail
