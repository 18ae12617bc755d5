// SPDX-License-Identifier: Apache-2.0
// CastMap: the values of a map as a row of another type, in the order of keys, or at the keys'
// positions.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/learned_tables/map_input.hpp"
#include "level0_ops/operator/conversion.hpp"

namespace d5::ops {
namespace {

using CastMapView = onnx::nodes::ml::CastMap;
using Keys = std::vector<std::int64_t>;

DType type_of(const std::string& word, std::string_view who) {
  if (word == "TO_FLOAT") return DType::float32;
  if (word == "TO_INT64") return DType::int64;
  if (word == "TO_STRING") return DType::string;
  throw ValueError(fmt::format("{}: cast_to is {}, expected TO_FLOAT, TO_INT64 or TO_STRING", who,
                               printable(word)));
}

/// The order of the keys: the index of the key at each position.
std::vector<std::size_t> ascending(const Keys& keys) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return keys[i]; });
  return order;
}

/// Shapes: Y is 1 x keys, or for sparse maps 1 x max_map, with zeros or empty texts for missing
/// keys. Values are converted as by Cast.
class CastMap final : public MovingOperator {
 public:
  explicit CastMap(const CastMapView& view)
      : to_(type_of(view.cast_to(), onnx::describe(view.node()))),
        is_sparse_(view.map_form() == "SPARSE"),
        length_(view.max_map()) {
    const std::string who = onnx::describe(view.node());
    if (!is_sparse_ && view.map_form() != "DENSE") {
      throw ValueError(fmt::format("{}: map_form is {}, expected DENSE or SPARSE", who,
                                   printable(view.map_form())));
    }
    if (is_sparse_ && length_ < 1) {
      throw ValueError(fmt::format("{}: max_map is {}, expected 1 or more", who, length_));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const DType keys = detail::map_types(context).keys;
    if (keys != DType::int64) {
      throw TypeError(
          fmt::format("{}: the keys are {}, expected int64", context.who(), name_of(keys)));
    }
    return {TensorDesc{to_, Shape{1, is_sparse_ ? length_ : kUnknownDim}}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const DType from = detail::map_types(context).values;
    return kernel_for(Types<float, std::int64_t, std::string>{}, to_, context, [&]<class To>() {
      return detail::forward_kernel(
          [this, from, conversion = detail::Conversion(from, to_)](OpContext& run) {
            const Map& map = run.input_value(0).map();
            const Keys& keys = std::get<Keys>(map.keys);
            const auto convert = [&](std::size_t i, To& to) {
              conversion.run(&to, detail::map_value(map, i, from, run.who()).raw(), 1);
            };
            if (is_sparse_) {
              const auto y = run.output(0).span<To>();
              std::ranges::fill(y, To{});
              for (std::size_t i = 0; i < keys.size(); ++i) convert(i, y[place(keys[i], run)]);
            } else {
              const Shape shape{1, std::int64_t(keys.size())};
              To* y = run.allocate(0, {to_, shape}).data<To>();
              for (const std::size_t i : ascending(keys)) convert(i, *y++);
            }
          });
    });
  }

 private:
  [[nodiscard]] std::size_t place(std::int64_t key, const OpContext& run) const {
    if (key >= 0 && key < length_) return std::size_t(key);
    throw ValueError(fmt::format("{}: key {} is outside [0, {}]", run.who(), key, length_ - 1));
  }

  DType to_;
  bool is_sparse_;
  std::int64_t length_;
};

}  // namespace

void register_cast_map(OperatorRegistry& registry) { registry.add<CastMap, CastMapView>(); }

}  // namespace d5::ops
