// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "d5/core/results/measurement.hpp"
#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// Where an expected value comes from.
enum class Expectation {
  computed,  ///< a reference gave it: nothing says that it is right where it is no number
  written,   ///< a case or a test folder says it: an infinity, a constant, no element are claims
};

/// The words of the condition "compared" of a record in which nothing was.
inline constexpr std::string_view kNothing = "nothing";
inline constexpr std::string_view kNothingFinite = "nothing finite";

/// Elements of a value, those in sequences, optionals and maps among them.
struct Evidence {
  std::int64_t elements = 0, nan = 0, infinite = 0;

  /// Why a value that agrees with this one says nothing: "NaN in 10 of 10 elements". Empty where it
  /// says something: half of the elements or more are numbers, or of what is written one is not
  /// NaN.
  [[nodiscard]] std::string lack(Expectation expectation) const;
};
[[nodiscard]] Evidence evidence_in(const Value& value);

/// Marks a comparison with `expected` that says nothing: the record has the condition "compared",
/// and is mistrusted where it passed. Where some elements are NaN or infinite the condition says
/// how many are not. `what` begins the reason: "output y". Every judge of answers calls this.
void weigh_evidence(Measurement& record, const std::string& what, const Value& expected,
                    Expectation expectation);

/// The same for another reason, in words that name a way out: "the reference's answers are 0 in 10
/// of 10 elements: give inputs".
void mistrust_uncompared(Measurement& record, const std::string& what, const std::string& words);

/// Whether a record of a comparison says that nothing was compared.
[[nodiscard]] bool compared_nothing(const Measurement& record);
/// The same, for the reference gave no numbers.
[[nodiscard]] bool compared_nothing_finite(const Measurement& record);

/// The number that all elements of a tensor of floats are, two or more of them, as text; empty
/// where they differ.
[[nodiscard]] std::string constant_in(const Value& value);

}  // namespace d5::detail
