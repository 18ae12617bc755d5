// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

namespace d5::detail {
namespace {

template <class T>
void count(const Tensor& tensor, Evidence& evidence) {
  if constexpr (std::is_same_v<T, std::string>) {
    return;
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    for (const T& value : tensor.span<T>()) {
      const bool is_nan = std::isnan(value.real()) || std::isnan(value.imag());
      evidence.nan += is_nan ? 1 : 0;
      const bool is_finite = std::isfinite(value.real()) && std::isfinite(value.imag());
      evidence.infinite += !is_nan && !is_finite ? 1 : 0;
    }
  } else if constexpr (std::is_floating_point_v<Arithmetic<T>>) {
    for (const T& value : tensor.span<T>()) {
      const auto number = double(Arithmetic<T>(value));
      evidence.nan += std::isnan(number) ? 1 : 0;
      evidence.infinite += std::isinf(number) ? 1 : 0;
    }
  }
}

template <class T>
std::string constant_of(const Tensor& tensor) {
  const auto numbers = tensor.span<T>();
  const auto first = double(Arithmetic<T>(numbers.front()));
  const bool is_constant = std::ranges::all_of(
      numbers, [&](const T& one) { return double(Arithmetic<T>(one)) == first; });
  return is_constant ? fmt::format("{:.6g}", first == 0 ? 0.0 : first) : "";
}

void add(const Value& value, Evidence& evidence) {
  switch (value.kind()) {
    case ValueKind::none:
      return;
    case ValueKind::tensor: {
      if (!value.tensor().defined()) return;
      const Tensor tensor = value.tensor().on_host();
      evidence.elements += tensor.elements();
      dispatch(AllTypes{}, tensor.dtype(), "evidence",
               [&]<class T>() { count<T>(tensor, evidence); });
      return;
    }
    case ValueKind::sequence:
      for (const Value& one : value.sequence().values) add(one, evidence);
      return;
    case ValueKind::optional:
      if (value.optional().value) add(*value.optional().value, evidence);
      return;
    case ValueKind::map:
      for (const Value& one : value.map().values->sequence().values) add(one, evidence);
      return;
  }
}

std::string who(Expectation expectation) {
  return expectation == Expectation::computed ? "the reference's answers" : "the expected values";
}

}  // namespace

std::string Evidence::lack(Expectation expectation) const {
  const bool is_written = expectation == Expectation::written;
  if (elements == 0) return is_written ? "" : "empty";
  const std::int64_t none = nan + (is_written ? 0 : infinite);
  if (is_written ? none < elements : 2 * none <= elements) return "";
  const char* kind = infinite == 0 || is_written ? "NaN"
                     : nan == 0                  ? "infinite"
                                                 : "NaN or infinite";
  return fmt::format("{} in {} of {} elements", kind, none, elements);
}

Evidence evidence_in(const Value& value) {
  Evidence evidence;
  add(value, evidence);
  return evidence;
}

void weigh_evidence(Measurement& record, const std::string& what, const Value& expected,
                    Expectation expectation) {
  const Evidence evidence = evidence_in(expected);
  if (const std::string lack = evidence.lack(expectation); !lack.empty()) {
    mistrust_uncompared(record, what,
                        fmt::format("{} are {}: give inputs", who(expectation), lack));
    if (evidence.elements > 0) record.conditions["compared"] = finding(kNothingFinite);
    return;
  }
  const std::int64_t numbers = evidence.elements - evidence.nan - evidence.infinite;
  if (numbers == evidence.elements) return;
  record.conditions["compared"] =
      finding(fmt::format("numbers in {} of {} elements", numbers, evidence.elements));
}

void mistrust_uncompared(Measurement& record, const std::string& what, const std::string& words) {
  record.conditions["compared"] = finding(kNothing);
  mistrust(record, fmt::format("{}{}{}", what, what.empty() ? "" : ": ", words));
}

bool compared_nothing(const Measurement& record) {
  return condition_of(record, "compared").starts_with(kNothing);
}

bool compared_nothing_finite(const Measurement& record) {
  return condition_of(record, "compared") == kNothingFinite;
}

std::string constant_in(const Value& value) {
  if (!value.is_tensor() || !value.tensor().defined()) return "";
  const Tensor tensor = value.tensor().on_host();
  if (tensor.elements() < 2) return "";
  std::string constant;
  dispatch(AllTypes{}, tensor.dtype(), "constant", [&]<class T>() {
    if constexpr (!std::is_same_v<T, std::string>) {
      if constexpr (std::is_floating_point_v<Arithmetic<T>>) constant = constant_of<T>(tensor);
    }
  });
  return constant;
}

}  // namespace d5::detail
