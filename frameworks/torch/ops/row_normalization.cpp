// SPDX-License-Identifier: Apache-2.0
// Normalization of rows by their own statistics. Small floats are normalized as float.
#include <ATen/ops/group_norm.h>
#include <ATen/ops/instance_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/var_mean.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <numeric>

#include "d5/level0_ops/operator/row_scale.hpp"
#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

/// The sizes of x from an axis on.
Sizes trailing(std::int64_t axis, const PlanContext& context) {
  const auto x = context.shape(0).dims();
  return {x.begin() + front(axis, context), x.end()};
}

/// A scale, broadcast to x.
struct Scale {
  Scale(const PlanContext& context, std::size_t i, std::int64_t axis) {
    if (!context.has_input(i)) return;
    const RowScale found = row_scale(context, i, std::size_t(front(axis, context)));
    sizes = {found.shape.begin(), found.shape.end()};
    is_row = found.is_row;
  }
  at::Tensor of(const at::Tensor& given) const { return given.reshape(sizes); }
  Sizes sizes;
  bool is_row = true;
};

/// Shapes: the statistics as x, with size 1 from the axis on.
class LayerNormalization final : public TorchKernel {
  using View = nodes::LayerNormalization;

 public:
  explicit LayerNormalization(const PlanContext& context)
      : TorchKernel(context),
        sizes_(trailing(View(node()).axis(), context)),
        scale_(context, View::In::Scale, View(node()).axis()),
        bias_(context, View::In::B, View(node()).axis()),
        epsilon_(View(node()).epsilon()) {
    for (std::size_t i = 0; i < context.output_count(); ++i) {
      types_.push_back(scalar_type(context.output(i).dtype));
    }
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    auto bias = given(inputs, View::In::B);
    if (bias) bias = widened(*bias);
    const at::Tensor x = widened(inputs[View::In::X]);
    const at::Tensor scale = widened(inputs[View::In::Scale]);
    results[0] = normalized(x, scale, bias).to(types_[0]);
    if (results.size() == 1) return;
    // Torch's own statistics have no gradient.
    at::DimVector dims;
    for (std::size_t i = 0; i < sizes_.size(); ++i) dims.push_back(-std::int64_t(i) - 1);
    const auto [variance, mean] =
        at::var_mean(x, dims, /*correction=*/std::optional<at::Scalar>(0), /*keepdim=*/true);
    results[1] = mean.to(types_[1]);
    if (results.size() > 2) results[2] = at::rsqrt(variance + epsilon_).to(types_[2]);
  }

 private:
  at::Tensor normalized(const at::Tensor& x, const at::Tensor& scale,
                        const std::optional<at::Tensor>& bias) const {
    if (scale_.is_row && bias_.is_row) {
      const auto shift = bias ? std::optional(bias->reshape(sizes_)) : std::nullopt;
      return std::get<0>(at::native_layer_norm(x, sizes_, scale.reshape(sizes_), shift, epsilon_));
    }
    const at::Tensor plain = std::get<0>(at::native_layer_norm(x, sizes_, {}, {}, epsilon_));
    const at::Tensor scaled = plain * scale_.of(scale);
    return bias ? scaled + bias_.of(*bias) : scaled;
  }

  Sizes sizes_;
  Scale scale_, bias_;
  double epsilon_;
  std::vector<at::ScalarType> types_;  // types of the outputs
};

class RMSNormalization final : public TorchKernel {
  using View = nodes::RMSNormalization;

 public:
  explicit RMSNormalization(const PlanContext& context)
      : TorchKernel(context),
        sizes_(trailing(View(node()).axis(), context)),
        scale_(context, View::In::scale, View(node()).axis()),
        epsilon_(View(node()).epsilon()),
        type_(scalar_type(context.output(0).dtype)) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor &x = inputs[View::In::X], &scale = inputs[View::In::scale];
    // Their types may differ, and torch would compute in that of x.
    const at::ScalarType wide =
        at::toOpMathType(c10::promoteTypes(x.scalar_type(), scale.scalar_type()));
    const at::Tensor factor = scale.to(wide);
    results[0] =
        (scale_.is_row ? at::rms_norm(x.to(wide), sizes_, factor.reshape(sizes_), epsilon_)
                       : at::rms_norm(x.to(wide), sizes_, {}, epsilon_) * scale_.of(factor))
            .to(type_);
  }

 private:
  Sizes sizes_;
  Scale scale_;
  double epsilon_;
  at::ScalarType type_;
};

/// Groups of channels. With scale and bias, torch's function computes x a + b, which cancels if the
/// mean is large; without them it subtracts first. A module without them is exported with ones and
/// zeros.
class GroupNormalization final : public TorchKernel {
  using View = nodes::GroupNormalization;

 public:
  explicit GroupNormalization(const PlanContext& context)
      : TorchKernel(context),
        channels_(context.shape(View::In::X)[1]),
        groups_(View(node()).num_groups()),
        epsilon_(View(node()).epsilon()),
        type_(scalar_type(context.output(0).dtype)) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor x = widened(inputs[View::In::X]);
    const at::Tensor scale = of_channels(inputs[View::In::scale]),
                     bias = of_channels(inputs[View::In::bias]);
    const bool plain = is_all(scale, 1) && is_all(bias, 0);
    results[0] = (plain ? at::group_norm(x, groups_, {}, {}, epsilon_)
                        : at::group_norm(x, groups_, scale, bias, epsilon_))
                     .to(type_);
  }

 private:
  /// Expands a scale per group to channels; before opset 21 each group had one.
  at::Tensor of_channels(const at::Tensor& scale) const {
    const at::Tensor list = widened(scale).reshape({-1});
    if (list.size(0) == channels_) return list;
    return at::repeat_interleave(list, channels_ / groups_);
  }
  /// Whether all elements are `value`; false for a list with a gradient, which a module without
  /// parameters lacks.
  static bool is_all(const at::Tensor& list, double value) {
    if (list.requires_grad() || !list.is_cpu()) return false;
    const auto all = [&](const auto* x) {
      return std::all_of(x, x + list.numel(), [&](auto one) { return one == value; });
    };
    return list.scalar_type() == at::kDouble ? all(list.const_data_ptr<double>())
                                             : all(list.const_data_ptr<float>());
  }

  std::int64_t channels_, groups_;
  double epsilon_;
  at::ScalarType type_;
};

/// Each channel of each sample by itself.
class InstanceNormalization final : public TorchKernel {
  using View = nodes::InstanceNormalization;

 public:
  explicit InstanceNormalization(const PlanContext& context)
      : TorchKernel(context), epsilon_(View(node()).epsilon()) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor& x = inputs[View::In::input];
    results[0] = at::instance_norm(widened(x), widened(inputs[View::In::scale]),
                                   widened(inputs[View::In::B]), /*running_mean=*/{},
                                   /*running_var=*/{}, /*use_input_stats=*/true, /*momentum=*/0,
                                   epsilon_, /*cudnn_enabled=*/false)
                     .to(x.scalar_type());
  }

 private:
  double epsilon_;
};

/// A line of zeros stays zero.
class LpNormalization final : public TorchKernel {
  using View = nodes::LpNormalization;

 public:
  explicit LpNormalization(const PlanContext& context)
      : TorchKernel(context), axis_(front(View(node()).axis(), context)), p_(View(node()).p()) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor x = widened(inputs[0]);
    const at::Tensor norm = at::linalg_vector_norm(x, p_, axis_, /*keepdim=*/true);
    results[0] = (x / at::where(norm == 0, at::ones_like(norm), norm)).to(inputs[0].scalar_type());
  }

 private:
  std::int64_t axis_, p_;
};

/// y = (x - mean) / (standard deviation + 1e-9)
class MeanVarianceNormalization final : public TorchKernel {
 public:
  explicit MeanVarianceNormalization(const PlanContext& context)
      : TorchKernel(context), axes_(nodes::MeanVarianceNormalization(node()).axes()) {
    for (std::int64_t& axis : axes_) axis = front(axis, context);
    if (!axes_.empty()) return;
    axes_.resize(context.shape(0).rank());
    std::iota(axes_.begin(), axes_.end(), 0);
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor x = widened(inputs[0]);
    const auto [variance, mean] =
        at::var_mean(x, axes_, /*correction=*/std::optional<at::Scalar>(0), /*keepdim=*/true);
    // If all elements are equal, a change of the deviation does not affect y; the root's slope is
    // infinite.
    const at::Tensor flat = variance == 0;
    const at::Tensor deviation =
        at::where(flat, at::zeros_like(variance),
                  at::sqrt(at::where(flat, at::ones_like(variance), variance)));
    results[0] = ((x - mean) / (deviation + 1e-9)).to(inputs[0].scalar_type());
  }

 private:
  Sizes axes_;
};

}  // namespace

void register_row_normalization(OperatorRegistry& registry) {
  add<LayerNormalization, nodes::LayerNormalization>(registry, computes_some);
  add<RMSNormalization, nodes::RMSNormalization>(registry, computes_some);
  add<GroupNormalization, nodes::GroupNormalization>(registry, computes_some);
  add<InstanceNormalization, nodes::InstanceNormalization>(registry, computes_some);
  add<LpNormalization, nodes::LpNormalization>(registry, computes_some);
  add<MeanVarianceNormalization, nodes::MeanVarianceNormalization>(registry, computes_some);
}

}  // namespace d5::torch
