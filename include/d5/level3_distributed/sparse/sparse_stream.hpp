// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace d5 {

/// A sparse float32 vector as index-value pairs; it switches to the dense form if the pairs would
/// take as many bytes as the whole vector.
///
/// Message format: the number of pairs k (uint32), their indexes (uint32, ascending) and their
/// values: 4 + 8 k bytes. Dense: the uint32 `kDense` and all n values: 4 + 4 n bytes.
///
/// Source: Renggli et al., "SparCML: High-Performance Sparse Communication for Machine Learning"
/// (SC'19).
class SparseStream {
 public:
  static constexpr std::uint32_t kDense = 0xffffffff;

  /// A zero vector. Throws: ValueError for `size` below 0 or of 2^32 - 1 and above.
  explicit SparseStream(std::int64_t size = 0);
  /// Throws: ValueError if the indexes do not ascend or reach past the end; ShapeError if the
  /// numbers of indexes and values differ.
  SparseStream(std::int64_t size, std::vector<std::uint32_t> indexes, std::vector<float> values);
  [[nodiscard]] static SparseStream dense(std::vector<float> values);

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] bool is_dense() const { return dense_; }
  /// Indexes of the stored elements; empty if dense.
  [[nodiscard]] std::span<const std::uint32_t> indexes() const { return indexes_; }
  /// Values of the stored elements; all values if dense.
  [[nodiscard]] std::span<const float> values() const { return values_; }
  /// Elements [begin, end) as a stream of their own.
  [[nodiscard]] SparseStream part(std::int64_t begin, std::int64_t end) const;
  /// Overwrites `whole`, of `size()` elements.
  void write(std::span<float> whole) const;
  /// Element-wise sum with `other`. Throws: ShapeError if the sizes differ.
  [[nodiscard]] SparseStream plus(const SparseStream& other) const;

  /// Units: bytes.
  [[nodiscard]] std::int64_t message_bytes() const;
  [[nodiscard]] static std::int64_t most_message_bytes(std::int64_t size) { return 4 + 4 * size; }
  /// `message` has `message_bytes()`.
  void encode(std::span<std::uint8_t> message) const;
  /// Decodes an untrusted message. Throws: CommunicationError for a message that is truncated or
  /// too long, or whose indexes do not ascend or reach past the end.
  [[nodiscard]] static SparseStream decode(std::span<const std::uint8_t> message,
                                           std::int64_t size);

 private:
  void turn_dense_where_cheaper();

  std::int64_t size_ = 0;
  bool dense_ = false;
  std::vector<std::uint32_t> indexes_;
  std::vector<float> values_;
};

/// Top-k: indexes of the `k` elements of largest magnitude, ascending; the first of equal ones
/// wins. NaN counts as the largest. Throws: ValueError for `k` below 0 or above the size.
[[nodiscard]] std::vector<std::uint32_t> largest_magnitudes(std::span<const float> values,
                                                            std::int64_t k);

}  // namespace d5
