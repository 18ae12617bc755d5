// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/sample_step.hpp"

namespace d5 {
namespace {

struct CastOptions {
  std::string to = "float32";

  void declare(OptionList& options) {
    options.add("to", to, "element type: uint8, int32, int64, float32, float64, float16, bfloat16");
  }
};

template <class To, class From>
To converted(From value) {
  if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
    using Limits = std::numeric_limits<To>;
    const double number = double(value);
    if (std::isnan(number)) return 0;
    if (number <= double(Limits::min())) return Limits::min();
    if (number >= double(Limits::max())) return Limits::max();
    return To(number);
  } else if constexpr (std::is_same_v<To, Float16> || std::is_same_v<To, BFloat16>) {
    return To(float(value));
  } else {
    return To(value);
  }
}

/// Calls `body` with an element of the type. Throws: TypeError for a type that cannot be cast.
template <class F>
void with_element(DType dtype, const F& body) {
  switch (dtype) {
    case DType::uint8:
      return body(std::uint8_t{});
    case DType::int32:
      return body(std::int32_t{});
    case DType::int64:
      return body(std::int64_t{});
    case DType::float32:
      return body(float{});
    case DType::float64:
      return body(double{});
    case DType::float16:
      return body(Float16{});
    case DType::bfloat16:
      return body(BFloat16{});
    default:
      throw TypeError(
          fmt::format("{} is not cast, expected uint8, int32, int64, float32, float64, "
                      "float16 or bfloat16",
                      name_of(dtype)));
  }
}

/// Converts values to another type. Conversion to an integer truncates, and saturates at the limits
/// of the type.
class CastStep final : public SampleStep {
 public:
  using Options = CastOptions;
  explicit CastStep(const CastOptions& options) : to_(dtype_from_name(options.to)) {
    with_element(to_, [](auto) {});
  }

  TensorDesc describe(const TensorDesc& in) const override {
    with_element(in.dtype, [](auto) {});
    return {to_, in.shape};
  }
  void run(StepRun& run) const override {
    const SampleView& in = run.input();
    if (in.dtype == to_) return run.keep();
    const SampleView out = run.output(to_, in.dims());
    with_element(in.dtype, [&](auto from) {
      with_element(to_, [&](auto to) {
        const auto values = in.span<decltype(from)>();
        auto* result = out.as<decltype(to)>();
        for (const auto value : values) *result++ = converted<decltype(to)>(value);
      });
    });
  }

 private:
  DType to_;
};

}  // namespace

namespace sample_step {

void register_cast(Registry<SampleStepEntry>& registry) {
  registry.add("cast", SampleStepEntry::of<CastStep>("conversion to another element type"));
}

}  // namespace sample_step
}  // namespace d5
