// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "d5/level2_training/data/dataset.hpp"

namespace d5::detail {

/// A field whose samples are each of a shape of their own, as one tensor: as large as the batch's
/// largest in every open dimension, with padding behind what is smaller.
class PaddedField {
 public:
  /// Throws: ValueError where the element type cannot hold `pad`, TypeError where it has no
  /// padding.
  PaddedField(const Dataset& dataset, std::size_t field, std::int64_t samples, double pad);

  /// `reads[i][field()]` is sample i, {1, its shape...}. Allocates only where the batch is larger,
  /// or of another shape, than those before.
  /// Throws: ContractError for a tensor that is not as the field says; MemoryError.
  void gather(std::span<const std::vector<Tensor>> reads);

  [[nodiscard]] std::size_t field() const { return field_; }
  [[nodiscard]] const Tensor& values() const { return values_; }  ///< {samples, largest shape...}
  /// The real sizes of the open dimensions: int64 {samples} of one, {samples, k} of k.
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
