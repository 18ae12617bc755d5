// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// Values that an exchange keeps for each bucket from step to step, in float32, initially zero.
///
///     BucketValues momentum("exchange one_bit_adam", "momentum/");
///     momentum.lay_out({bucket.data.elements()});
///     momentum.at(bucket.index)  // a tensor that may be changed
class BucketValues {
 public:
  /// `who` is the exchange, for messages; `prefix` begins the names in checkpoints.
  BucketValues(std::string who, std::string prefix)
      : who_(std::move(who)), prefix_(std::move(prefix)) {}

  /// Sets the number of elements by bucket. Values of buckets with an unchanged number are kept.
  /// Throws: as `restore`.
  void lay_out(const std::vector<std::int64_t>& elements);
  [[nodiscard]] Tensor at(std::size_t bucket) const { return values_[bucket]; }

  void add_to(ValueMap& state) const;
  /// Restores the values. They may be missing (zero) in the state of an exchange without a step.
  /// Sizes are checked once they are known. Throws: NotFound, ShapeError.
  void restore(const ValueMap& state, std::int64_t steps);

 private:
  void adopt_restored();

  std::string who_, prefix_;
  std::vector<Tensor> values_;
  bool is_restored_ = false;  // but not adopted yet
  std::int64_t restored_steps_ = 0;
  ValueMap restored_;
};

}  // namespace d5::detail
