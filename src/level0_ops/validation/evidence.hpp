// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "d5/core/results/measurement.hpp"
#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// Source of an expected value.
enum class Expectation {
  computed,  ///< computed by a reference; NaN and infinity carry no information
  written,   ///< written in a case or a test folder; infinities, constants and empty tensors are
             ///< claims
};

/// Value of the condition "compared" of a record that compared nothing.
inline constexpr std::string_view kNothing = "nothing";
inline constexpr std::string_view kNothingFinite = "nothing finite";

/// Statistics of a value's elements, including those in sequences, optionals and maps.
struct Evidence {
  std::int64_t elements = 0, nan = 0, infinite = 0;

  /// The reason why agreement with this value carries no information: "NaN in 10 of 10 elements".
  /// Empty if it does: if at least half of the elements are numbers or, for written values, at
  /// least one is not NaN.
  [[nodiscard]] std::string lack(Expectation expectation) const;
};
[[nodiscard]] Evidence evidence_in(const Value& value);

/// Marks a comparison with an `expected` value without information: sets the condition "compared",
/// and mistrusts the record if it passed. If some elements are NaN or infinite, the condition has
/// the number of the others. `what` begins the reason: "output y". Called by every judge of
/// answers.
void weigh_evidence(Measurement& record, const std::string& what, const Value& expected,
                    Expectation expectation);

/// Marks a comparison for another reason, which includes a remedy: "the reference's answers are 0
/// in 10 of 10 elements: give inputs".
void mistrust_uncompared(Measurement& record, const std::string& what, const std::string& words);

/// Whether a record states that nothing was compared.
[[nodiscard]] bool compared_nothing(const Measurement& record);
/// Whether nothing was compared because the reference yielded no finite numbers.
[[nodiscard]] bool compared_nothing_finite(const Measurement& record);

/// The common value of all elements of a floating-point tensor with at least two elements, as text;
/// empty if they differ.
[[nodiscard]] std::string constant_in(const Value& value);

}  // namespace d5::detail
