// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace d5 {

/// A vector of float32 as its few elements that are there, the others are zero; dense where its
/// pairs of index and value would cost as many bytes as the whole vector.
///
/// As a message: a uint32, how many pairs, then their indexes (uint32, ascending), then their
/// values; or the uint32 `kDense`, then all values. Units: 4 + 8 k bytes, or 4 + 4 n.
///
/// Source: Renggli et al., "SparCML: High-Performance Sparse Communication for Machine Learning"
/// (SC'19).
class SparseStream {
 public:
  static constexpr std::uint32_t kDense = 0xffffffff;

  /// All zero. Throws: ValueError for `size` below 0 or of 2^32 - 1 and above.
  explicit SparseStream(std::int64_t size = 0);
  /// Throws: ValueError where the indexes do not ascend, or reach past the end; ShapeError where
  /// the numbers of indexes and values differ.
  SparseStream(std::int64_t size, std::vector<std::uint32_t> indexes, std::vector<float> values);
  [[nodiscard]] static SparseStream dense(std::vector<float> values);

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] bool is_dense() const { return dense_; }
  /// Of those that are there; empty where it is dense.
  [[nodiscard]] std::span<const std::uint32_t> indexes() const { return indexes_; }
  /// In their order; all where it is dense.
  [[nodiscard]] std::span<const float> values() const { return values_; }
  /// Elements [begin, end) as a stream of their own.
  [[nodiscard]] SparseStream part(std::int64_t begin, std::int64_t end) const;
  /// Overwrites `whole`, of `size()` elements.
  void write(std::span<float> whole) const;
  /// This plus `other`, element by element. Throws: ShapeError where the sizes differ.
  [[nodiscard]] SparseStream plus(const SparseStream& other) const;

  /// Units: bytes.
  [[nodiscard]] std::int64_t message_bytes() const;
  [[nodiscard]] static std::int64_t most_message_bytes(std::int64_t size) { return 4 + 4 * size; }
  /// `message` has `message_bytes()`.
  void encode(std::span<std::uint8_t> message) const;
  /// A message from another rank is not trusted. Throws: CommunicationError for one that is cut or
  /// too long, whose indexes do not ascend or reach past the end.
  [[nodiscard]] static SparseStream decode(std::span<const std::uint8_t> message,
                                           std::int64_t size);

 private:
  void turn_dense_where_cheaper();

  std::int64_t size_ = 0;
  bool dense_ = false;
  std::vector<std::uint32_t> indexes_;
  std::vector<float> values_;
};

/// The `k` elements of largest magnitude, ascending; among equals the first. NaN is larger than
/// anything. Throws: ValueError for `k` below 0 or above the size.
[[nodiscard]] std::vector<std::uint32_t> largest_magnitudes(std::span<const float> values,
                                                            std::int64_t k);

}  // namespace d5
