// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// What an exchange keeps of each bucket from step to step: float32 values, zero at first.
///
///     BucketValues momentum("exchange one_bit_adam", "momentum/");
///     momentum.lay_out({bucket.data.elements()});
///     momentum.at(bucket.index)  // a tensor that may be changed
class BucketValues {
 public:
  /// `who` is the exchange, for messages; `prefix` what names in checkpoints begin with.
  BucketValues(std::string who, std::string prefix)
      : who_(std::move(who)), prefix_(std::move(prefix)) {}

  /// Elements by bucket. Values of as many elements as there were stay.
  /// Throws: what `restore` throws.
  void lay_out(const std::vector<std::int64_t>& elements);
  [[nodiscard]] Tensor at(std::size_t bucket) const { return values_[bucket]; }

  void add_to(ValueMap& state) const;
  /// A state of an exchange that had made no step yet need not have any: they are zero then.
  /// Sizes are checked once they are known. Throws: NotFound, ShapeError.
  void restore(const ValueMap& state, std::int64_t steps);

 private:
  void adopt_restored();

  std::string who_, prefix_;
  std::vector<Tensor> values_;
  bool is_restored_ = false;  // and not adopted yet
  std::int64_t restored_steps_ = 0;
  ValueMap restored_;
};

}  // namespace d5::detail
