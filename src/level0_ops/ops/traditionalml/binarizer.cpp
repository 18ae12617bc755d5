// SPDX-License-Identifier: Apache-2.0
// Binarizer: 1 above a threshold, 0 elsewhere.
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/unary.hpp"
#include "level0_ops/kernels/learned_tables/feature_rows.hpp"

namespace d5::ops {
namespace {

using BinarizerView = onnx::nodes::ml::Binarizer;

struct Binarizer {
  using Types = detail::FeatureTypes;
  explicit Binarizer(const BinarizerView& view) : threshold(double(view.threshold())) {}
  template <class T>
  T value(T x) const {
    return T(double(x) > threshold);
  }
  double threshold;
};

}  // namespace

void register_binarizer(OperatorRegistry& registry) {
  detail::add_unary<Binarizer, BinarizerView>(registry);
}

}  // namespace d5::ops
