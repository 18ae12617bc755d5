// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "d5/level0_ops/validation/operator_validation.hpp"
#include "level0_ops/validation/worse.hpp"

namespace d5 {
namespace {

class ValueComparison {
 public:
  explicit ValueComparison(ForwardTolerance tolerance) : tolerance_(tolerance) {}

  Difference result;

  void values(const Value& got, const Value& expected, const std::string& place) {
    if (got.kind() != expected.kind()) {
      return refuse(fmt::format("{}: got a {}, expected a {}", place, name_of(got.kind()),
                                name_of(expected.kind())));
    }
    switch (got.kind()) {
      case ValueKind::none:
        return;
      case ValueKind::tensor:
        return tensors(got.tensor(), expected.tensor(), place);
      case ValueKind::sequence:
        return sequences(got.sequence(), expected.sequence(), place);
      case ValueKind::optional: {
        const auto &a = got.optional().value, &b = expected.optional().value;
        if (bool(a) != bool(b)) {
          return refuse(fmt::format("{}: got {}, expected {}", place, a ? "a value" : "none",
                                    b ? "a value" : "none"));
        }
        if (a) values(*a, *b, place);
        return;
      }
      case ValueKind::map:
        return std::visit([&](const auto& keys) { maps(got.map(), expected.map(), keys, place); },
                          expected.map().keys);
    }
  }

 private:
  void refuse(std::string message) {
    if (result.equal) result.where = std::move(message);
    result.equal = false;
  }

  /// Compares maps, whose keys are unordered.
  template <class Keys>
  void maps(const Map& got, const Map& expected, const Keys& keys, const std::string& place) {
    const auto* given = std::get_if<Keys>(&got.keys);
    if (!given || !std::ranges::is_permutation(*given, keys)) {
      return refuse(place + ": the keys differ");
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto at = std::size_t(std::ranges::find(*given, keys[i]) - given->begin());
      values(got.values->sequence().values[at], expected.values->sequence().values[i],
             fmt::format("{}[{}]", place, keys[i]));
    }
  }

  void sequences(const Sequence& got, const Sequence& expected, const std::string& place) {
    if (got.values.size() != expected.values.size()) {
      return refuse(fmt::format("{}: got a sequence of {}, expected one of {}", place,
                                got.values.size(), expected.values.size()));
    }
    for (std::size_t i = 0; i < got.values.size(); ++i) {
      values(got.values[i], expected.values[i], fmt::format("{}[{}]", place, i));
    }
  }

  void tensors(const Tensor& got, const Tensor& expected, const std::string& place) {
    if (got.desc() != expected.desc()) {
      return refuse(fmt::format("{}: got {}, expected {}", place, to_string(got.desc()),
                                to_string(expected.desc())));
    }
    dispatch(AllTypes{}, got.dtype(), "compare_values", [&]<class T>() {
      const T *a = got.data<T>(), *b = expected.data<T>();
      scale_ = largest(b, expected.elements());
      for (std::int64_t i = 0; i < got.elements(); ++i) {
        if constexpr (std::is_same_v<T, std::string>) {
          if (a[i] != b[i]) {
            refuse(fmt::format("{}[{}]: got '{}', expected '{}'", place, i, printable(a[i]),
                               printable(b[i])));
          }
        } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                             std::is_same_v<T, std::complex<double>>) {
          real(a[i].real(), b[i].real(), place, i);
          real(a[i].imag(), b[i].imag(), place, i);
        } else if constexpr (std::is_integral_v<T>) {
          exact(a[i], b[i], place, i);
        } else if constexpr (!std::is_floating_point_v<Arithmetic<T>>) {
          exact(int(a[i]), int(b[i]), place, i);
        } else {
          real(double(Arithmetic<T>(a[i])), double(Arithmetic<T>(b[i])), place, i);
        }
      }
    });
  }

  /// The largest finite magnitude, or 0 if there is none.
  template <class T>
  static double largest(const T* values, std::int64_t count) {
    double result = 0;
    if constexpr (std::is_floating_point_v<Arithmetic<T>>) {
      for (std::int64_t i = 0; i < count; ++i) {
        const double magnitude = std::fabs(double(Arithmetic<T>(values[i])));
        if (std::isfinite(magnitude)) result = std::max(result, magnitude);
      }
    }
    return result;
  }

  template <class T>
  void exact(T got, T expected, const std::string& place, std::int64_t i) {
    if (got == expected) return;
    result.largest_absolute =
        std::max(result.largest_absolute, std::fabs(double(got) - double(expected)));
    refuse(fmt::format("{}[{}]: got {}, expected {}", place, i, got, expected));
  }

  void real(double got, double expected, const std::string& place, std::int64_t i) {
    if (got == expected || (std::isnan(got) && std::isnan(expected))) return;
    const double absolute = std::fabs(got - expected);  // NaN or infinite: never within tolerance
    const double relative = scale_ > 0 ? absolute / scale_ : absolute;
    result.largest_absolute = detail::worse(result.largest_absolute, absolute);
    result.largest_relative = detail::worse(result.largest_relative, relative);
    if (!(absolute <= tolerance_.absolute + tolerance_.relative * std::fabs(expected)) ||
        std::isinf(absolute)) {
      refuse(fmt::format("{}[{}]: got {}, expected {}", place, i, got, expected));
    }
  }

  ForwardTolerance tolerance_;
  double scale_ = 0;  ///< largest magnitude of the compared tensor
};

}  // namespace

Difference compare_values(const Value& got, const Value& expected, ForwardTolerance tolerance) {
  const auto on_host = [](const Value& value) {
    return value.is_tensor() && value.tensor().defined() ? Value(value.tensor().on_host()) : value;
  };
  ValueComparison comparison(tolerance);
  comparison.values(on_host(got), on_host(expected), "value");
  return comparison.result;
}

}  // namespace d5
