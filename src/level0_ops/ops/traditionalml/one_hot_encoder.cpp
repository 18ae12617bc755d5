// SPDX-License-Identifier: Apache-2.0
// OneHotEncoder: each element as a row of zeros with a 1 at its category.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/learned_tables/class_labels.hpp"
#include "level0_ops/kernels/learned_tables/key_places.hpp"

namespace d5::ops {
namespace {

using OneHotEncoderView = onnx::nodes::ml::OneHotEncoder;
using Repeated = detail::KeyPlaces<std::string>::Repeated;

/// The position of a number's integer part; none for NaN and numbers beyond integers.
template <class T>
std::int64_t key_place(const detail::KeyPlaces<std::int64_t>& places, T number) {
  if constexpr (std::floating_point<T>) {
    constexpr T kLimit = T(9223372036854775808.0);  // 2^63
    if (!(number > -kLimit && number < kLimit)) return -1;
  }
  return places.find(std::int64_t(number));
}
std::int64_t key_place(const detail::KeyPlaces<std::string>& places, const std::string& text) {
  return places.find(text);
}

/// Shapes: y is x with an additional dimension, the categories.
class OneHotEncoder final : public MovingOperator {
 public:
  explicit OneHotEncoder(const OneHotEncoderView& view)
      : categories_(view.cats_int64s(), view.cats_strings(), onnx::describe(view.node())),
        takes_unknown_(view.zeros() != 0) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(0);
    if ((x.dtype == DType::string) != (categories_.dtype() == DType::string)) {
      throw TypeError(fmt::format("{}: X is {}, but the categories are {}", context.who(),
                                  name_of(x.dtype), name_of(categories_.dtype())));
    }
    Shape y = x.shape;
    y.push_back(std::int64_t(categories_.size()));
    return {TensorDesc{DType::float32, y}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    using Given = Types<float, double, std::int32_t, std::int64_t, std::string>;
    return kernel_for(Given{}, context.dtype(0), context, [&]<class T>() {
      if constexpr (std::is_same_v<T, std::string>) {
        return make_kernel<T>(detail::KeyPlaces<T>(categories_.texts(), Repeated::last));
      } else {
        using Places = detail::KeyPlaces<std::int64_t>;
        return make_kernel<T>(Places(categories_.integers(), Places::Repeated::last));
      }
    });
  }

 private:
  template <class T, class Places>
  std::unique_ptr<Kernel> make_kernel(Places places) const {
    return detail::forward_kernel([places = std::move(places), count = categories_.size(),
                                   takes_unknown = takes_unknown_](OpContext& run) {
      float* y = run.output(0).data<float>();
      for (const T& element : run.input(0).span<T>()) {
        const std::int64_t place = key_place(places, element);
        if (place < 0 && !takes_unknown) {
          throw ValueError(fmt::format(
              "{}: an element is none of the {} categories; with zeros=1 it becomes zeros",
              run.who(), count));
        }
        std::fill_n(y, count, 0.0f);
        if (place >= 0) y[place] = 1;
        y += count;
      }
    });
  }

  detail::ClassLabels categories_;
  bool takes_unknown_;
};

}  // namespace

void register_one_hot_encoder(OperatorRegistry& registry) {
  registry.add<OneHotEncoder, OneHotEncoderView>();
}

}  // namespace d5::ops
