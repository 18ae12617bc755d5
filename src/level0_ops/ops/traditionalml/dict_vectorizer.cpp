// SPDX-License-Identifier: Apache-2.0
// DictVectorizer: the values of a map as a row, each at its key's position in a vocabulary.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/learned_tables/class_labels.hpp"
#include "level0_ops/kernels/learned_tables/key_places.hpp"
#include "level0_ops/kernels/learned_tables/map_input.hpp"

namespace d5::ops {
namespace {

using DictVectorizerView = onnx::nodes::ml::DictVectorizer;

/// Shapes: Y is 1 x words of the vocabulary, with zeros or empty texts for missing keys. Keys
/// outside the vocabulary are ignored, as in ONNX Runtime.
class DictVectorizer final : public MovingOperator {
 public:
  explicit DictVectorizer(const DictVectorizerView& view)
      : vocabulary_(view.int64_vocabulary(), view.string_vocabulary(),
                    onnx::describe(view.node())) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto [keys, values] = detail::map_types(context);
    if (keys != vocabulary_.dtype()) {
      throw TypeError(fmt::format("{}: the keys are {}, but the vocabulary is {}", context.who(),
                                  name_of(keys), name_of(vocabulary_.dtype())));
    }
    return {TensorDesc{values, Shape{1, std::int64_t(vocabulary_.size())}}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    using Values = Types<float, double, std::int64_t, std::string>;
    const auto [keys, values] = detail::map_types(context);
    return kernel_for(Values{}, values, context, [&]<class V>() {
      return keys == DType::string
                 ? make_kernel<V>(detail::KeyPlaces<std::string>(vocabulary_.texts()))
                 : make_kernel<V>(detail::KeyPlaces<std::int64_t>(vocabulary_.integers()));
    });
  }

 private:
  template <class V, class Key>
  static std::unique_ptr<Kernel> make_kernel(detail::KeyPlaces<Key> places) {
    return detail::forward_kernel([places = std::move(places)](OpContext& run) {
      const Map& map = run.input_value(0).map();
      const auto y = run.output(0).span<V>();
      std::ranges::fill(y, V{});
      std::size_t i = 0;
      for (const Key& key : std::get<std::vector<Key>>(map.keys)) {
        const std::int64_t place = places.find(key);
        const Tensor& value = detail::map_value(map, i++, dtype_of<V>, run.who());
        if (place >= 0) y[std::size_t(place)] = *value.data<V>();
      }
    });
  }

  detail::ClassLabels vocabulary_;
};

}  // namespace

void register_dict_vectorizer(OperatorRegistry& registry) {
  registry.add<DictVectorizer, DictVectorizerView>();
}

}  // namespace d5::ops
