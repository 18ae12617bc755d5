// SPDX-License-Identifier: Apache-2.0
// Binarizer: 1 above a threshold, 0 elsewhere.
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/feature_rows.hpp"
#include "level0_ops/kernels/unary.hpp"

namespace d5::ops {
namespace {

using View = onnx::nodes::ml::Binarizer;

struct Binarizer {
  using Types = detail::FeatureTypes;
  explicit Binarizer(const View& view) : threshold(double(view.threshold())) {}
  template <class T>
  T value(T x) const {
    return T(double(x) > threshold);
  }
  double threshold;
};

}  // namespace

void register_binarizer(OperatorRegistry& registry) {
  detail::add_unary<Binarizer, View>(registry);
}

}  // namespace d5::ops
