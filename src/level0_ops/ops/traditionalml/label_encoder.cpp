// SPDX-License-Identifier: Apache-2.0
// LabelEncoder and CategoryMapper: replace each element by its value in a table.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/learned_tables/key_places.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

namespace ml = onnx::nodes::ml;
using KeyTypes = Types<float, double, std::int16_t, std::int32_t, std::int64_t, std::string>;

/// Keys and values of a table; `otherwise` is the value of unknown elements.
struct Table {
  Tensor keys, values, otherwise;
};

/// The list of a table's keys or values, in one of the alternative attributes.
template <class T>
std::optional<Tensor> as_tensor(const std::optional<std::vector<T>>& list) {
  return list ? std::optional(Tensor::vector(*list)) : std::nullopt;
}
Tensor choose(std::initializer_list<std::optional<Tensor>> lists, std::string_view name,
              const onnx::Node& node) {
  const auto given = [](const auto& list) { return list.has_value(); };
  if (std::ranges::count_if(lists, given) == 1) return **std::ranges::find_if(lists, given);
  throw ValueError(
      fmt::format("{}: expected exactly one attribute {}_*", onnx::describe(node), name));
}

/// The default value of type `dtype`, from the attribute for its kind.
template <class View>
Tensor default_of(const View& view, DType dtype) {
  Tensor result = Tensor::empty(dtype, {});
  dispatch(KeyTypes{}, dtype, onnx::describe(view.node()), [&]<class T>() {
    if constexpr (std::is_same_v<T, std::string>) {
      *result.data<T>() = view.default_string();
    } else if constexpr (std::is_floating_point_v<T>) {
      *result.data<T>() = T(view.default_float());
    } else {
      *result.data<T>() = T(view.default_int64());
    }
  });
  return result;
}

/// Texts and numbers, each the other's keys.
template <class View>
std::vector<Table> both_ways(const View& view, const std::vector<std::string>& texts,
                             const std::vector<std::int64_t>& numbers) {
  const Tensor words = Tensor::vector(texts), integers = Tensor::vector(numbers);
  return {{words, integers, Tensor::scalar(view.default_int64())},
          {integers, words, Tensor::scalar(view.default_string())}};
}

std::vector<Table> tables(const ml::CategoryMapper& view) {
  return both_ways(view, view.cats_strings().value_or(std::vector<std::string>{}),
                   view.cats_int64s().value_or(std::vector<std::int64_t>{}));
}

/// In opset 1, texts map to their index in a list, and vice versa.
std::vector<Table> tables(const ml::LabelEncoder& view) {
  if (view.node().opset < 2) {
    const auto texts = view.classes_strings().value_or(std::vector<std::string>{});
    std::vector<std::int64_t> places(texts.size());
    std::iota(places.begin(), places.end(), 0);
    return both_ways(view, texts, places);
  }
  const Tensor keys = choose({as_tensor(view.keys_strings()), as_tensor(view.keys_int64s()),
                              as_tensor(view.keys_floats()), view.keys_tensor()},
                             "keys", view.node());
  const Tensor values = choose({as_tensor(view.values_strings()), as_tensor(view.values_int64s()),
                                as_tensor(view.values_floats()), view.values_tensor()},
                               "values", view.node());
  const auto given = view.default_tensor();
  if (given && (given->dtype() != values.dtype() || given->elements() != 1)) {
    throw TypeError(fmt::format("{}: default_tensor is {}, expected one {}",
                                onnx::describe(view.node()), to_string(given->desc()),
                                name_of(values.dtype())));
  }
  return {{keys, values, given ? *given : default_of(view, values.dtype())}};
}

/// Shapes: y as x.
template <class View>
class TableOperator final : public MovingOperator {
 public:
  explicit TableOperator(const View& view) : tables_(tables(view)) {
    for (const Table& table : tables_) {
      if (table.keys.elements() == table.values.elements()) continue;
      throw ValueError(fmt::format("{}: {} keys for {} values", onnx::describe(view.node()),
                                   table.keys.elements(), table.values.elements()));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{table(context).values.dtype(), context.shape(0)}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const Table& chosen = table(context);
    return kernel_for(KeyTypes{}, context.dtype(0), context, [&]<class K>() {
      return detail::dispatch_by_size(chosen.values.dtype(), [&]<class V>() {
        return make_kernel<K, V>(chosen, context.node().opset);
      });
    });
  }

 private:
  [[nodiscard]] const Table& table(const InferContext& context) const {
    for (const Table& table : tables_) {
      if (table.keys.dtype() == context.dtype(0)) return table;
    }
    throw TypeError(fmt::format("{}: X is {}, but the keys are {}", context.who(),
                                name_of(context.dtype(0)), name_of(tables_[0].keys.dtype())));
  }

  /// V moves like the values' type.
  template <class K, class V>
  static std::unique_ptr<Kernel> make_kernel(const Table& table, int opset) {
    using Places = detail::KeyPlaces<K>;
    const auto repeated = opset < 4 ? Places::Repeated::first : Places::Repeated::last;
    return detail::forward_kernel(
        [places = Places(table.keys.span<K>(), repeated), table](OpContext& run) {
          const V* values = static_cast<const V*>(table.values.raw());
          const V* otherwise = static_cast<const V*>(table.otherwise.raw());
          V* y = static_cast<V*>(run.output(0).raw());
          for (const K& key : run.input(0).span<K>()) {
            const std::int64_t place = places.find(key);
            *y++ = place < 0 ? *otherwise : values[place];
          }
        });
  }

  std::vector<Table> tables_;
};

}  // namespace

void register_label_encoder(OperatorRegistry& registry) {
  registry.add<TableOperator<ml::LabelEncoder>, ml::LabelEncoder>();
  registry.add<TableOperator<ml::CategoryMapper>, ml::CategoryMapper>();
}

}  // namespace d5::ops
