// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "d5/level2_training/data/dataset.hpp"

namespace d5::detail {

/// A field with samples of different shapes as one tensor: as large as the batch's largest in every
/// open dimension, with padding after smaller ones.
class PaddedField {
 public:
  /// Throws: ValueError if the element type cannot hold `pad`; TypeError if it has no padding.
  PaddedField(const Dataset& dataset, std::size_t field, std::int64_t samples, double pad);

  /// Gathers sample i from `reads[i][field()]`, {1, its shape...}. Allocates only if the batch is
  /// larger, or of another shape, than earlier ones.
  /// Throws: ContractError for a tensor that does not match the field; MemoryError.
  void gather(std::span<const std::vector<Tensor>> reads);

  [[nodiscard]] std::size_t field() const { return field_; }
  [[nodiscard]] const Tensor& values() const { return values_; }  ///< {samples, largest shape...}
  /// The real sizes of the open dimensions: int64 {samples} for one, {samples, k} for k.
  [[nodiscard]] const Tensor& lengths() const { return lengths_; }

 private:
  void check(const Tensor& sample) const;
  void fill();

  std::string who_;
  std::size_t field_;
  TensorDesc desc_;  // for one sample
  std::vector<std::size_t> open_;
  std::vector<std::byte> pad_;         // one element; none of a string
  std::vector<std::int64_t> largest_;  // {samples, ...}
  Tensor storage_, values_, lengths_;
};

/// "tokens.length": the field that holds the real lengths of "tokens".
[[nodiscard]] std::string length_field(const std::string& field);

}  // namespace d5::detail
