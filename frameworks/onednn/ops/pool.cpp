// SPDX-License-Identifier: Apache-2.0
// Pooling, 1 to 3 spatial dimensions; global pooling is a window over the whole input.
#include <algorithm>
#include <array>

#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/onnx/nodes.hpp"
#include "onednn_kernel.hpp"
#include "onednn_window.hpp"

namespace d5::onednn {
namespace {

using Algorithm = dnnl::algorithm;
namespace nodes = onnx::nodes;

template <class View>
Window window_of(const PlanContext& context) {
  const auto attributes = WindowAttributes::of(View(context.node()));
  return attributes.resolve(context.shape(0), attributes.kernel(), context.who());
}

template <class View>
Support pools(const PlanContext& context) {
  const Window window = window_of<View>(context);
  if (OneDnnWindow(window).misses) return {"a window that covers only padding"};
  // oneDNN visits every tap, d5's reference only those on the input.
  const auto is_far_larger = [](const WindowAxis& axis) { return axis.kernel > 4 * axis.input; };
  if (std::ranges::any_of(window.axes, is_far_larger)) {
    return {"a window of more than four times the input's size"};
  }
  return {};
}

/// Shapes: x N,C,spatial; y N,C,spatial.
class Pool : public OneDnnKernel {
 public:
  Pool(PlanContext& context, Algorithm algorithm, const OneDnnWindow& w)
      : OneDnnKernel(context), taps_(input(0)) {
    using Forward = dnnl::pooling_forward::primitive_desc;
    using Backward = dnnl::pooling_backward::primitive_desc;
    const bool tells_taps = context.wants_output(1);  // then in rows, and as in training
    const Argument x = tells_taps ? input(0) : input_as_found(0);
    const Desc y = rows(context.output(0));
    const auto kind = tells_taps ? dnnl::prop_kind::forward_training : direction();
    const Forward forward(engine(), kind, algorithm, x.desc, any(y), w.strides, w.kernel,
                          w.dilations, w.begin, w.end, attributes());
    std::vector<Pass::Bound> writes = {{DNNL_ARG_DST, output_in(0, forward.dst_desc())}};
    std::vector<Pass::Bound> reads = {{DNNL_ARG_DIFF_DST, grad_output(0)}};
    if (const Desc workspace = forward.workspace_desc(); workspace.get_size() > 0) {
      taps_ = context.wants_backward() ? save(workspace) : forward_.scratch(workspace);
      writes.push_back({DNNL_ARG_WORKSPACE, taps_});
      reads.push_back({DNNL_ARG_WORKSPACE, taps_});
    }
    forward_.add(forward, {{DNNL_ARG_SRC, x}}, writes);
    traits_.backward_reads_inputs = {};
    if (!context.wants_grad(0)) return;
    const Backward backward(engine(), algorithm, x.desc, y, w.strides, w.kernel, w.dilations,
                            w.begin, w.end, forward, attributes());
    backward_.add(backward, reads, {{DNNL_ARG_DIFF_SRC, grad_input(0)}});
  }

 protected:
  /// Index of the largest element in each window, if it is needed.
  [[nodiscard]] const Argument& taps() const { return taps_; }

 private:
  Argument taps_;
};

/// Indices, the second output, refer to the whole input; column-major for `storage_order` 1.
class MaxPool final : public Pool {
 public:
  explicit MaxPool(PlanContext& context)
      : Pool(context, Algorithm::pooling_max, OneDnnWindow(window_of<nodes::MaxPool>(context))),
        window_(window_of<nodes::MaxPool>(context)),
        planes_(context.shape(0)[0] * context.shape(0)[1]) {
    const auto& [z, y, x] = window_.axes;
    strides_ = nodes::MaxPool(context.node()).storage_order() == 0
                   ? std::array{y.input * x.input, x.input, std::int64_t{1}}
                   : std::array{std::int64_t{1}, z.input, z.input * y.input};
  }

  void forward(OpContext& context) override {
    Pool::forward(context);
    if (!context.wants_output(1)) return;
    const void* found = taps().place == Argument::Place::saved
                            ? context.saved(taps().index).raw()
                            : context.scratch().data() + taps().index;
    auto* indices = context.output(1).data<std::int64_t>();
    if (taps().desc.get_data_type() == dnnl::memory::data_type::u8) {
      write_indices(static_cast<const std::uint8_t*>(found), indices);
    } else {
      write_indices(static_cast<const std::int32_t*>(found), indices);
    }
  }

  static Support check(const PlanContext& context) {
    const Support support = floats(context, {0}, {0});
    return support ? pools<nodes::MaxPool>(context) : support;
  }

 private:
  template <class Tap>
  void write_indices(const Tap* taps, std::int64_t* indices) const {
    const auto& [z_axis, y_axis, x_axis] = window_.axes;
    const std::int64_t outputs = window_.output_size(), inputs = window_.input_size();
    parallel_for(planes_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t plane = begin; plane < end; ++plane) {
        window_.for_each_output(
            [&](std::int64_t o, std::int64_t z, std::int64_t y, std::int64_t x) {
              const std::int64_t tap = taps[plane * outputs + o];
              const std::int64_t line = tap / x_axis.kernel;
              indices[plane * outputs + o] = plane * inputs +
                                             z_axis.at(z, line / y_axis.kernel) * strides_[0] +
                                             y_axis.at(y, line % y_axis.kernel) * strides_[1] +
                                             x_axis.at(x, tap % x_axis.kernel) * strides_[2];
            });
      }
    });
  }

  Window window_;
  std::int64_t planes_;
  std::array<std::int64_t, 3> strides_;
};

class AveragePool final : public Pool {
 public:
  explicit AveragePool(PlanContext& context)
      : Pool(context, algorithm_of(context), OneDnnWindow(window_of<nodes::AveragePool>(context))) {
  }

  static Support check(const PlanContext& context) {
    const Support support = floats(context);
    return support ? pools<nodes::AveragePool>(context) : support;
  }

 private:
  static Algorithm algorithm_of(const PlanContext& context) {
    if (nodes::AveragePool(context.node()).count_include_pad() == 0) {
      return Algorithm::pooling_avg_exclude_padding;
    }
    if (OneDnnWindow(window_of<nodes::AveragePool>(context)).reaches_past) {
      throw Unsupported(context.who() + ": oneDNN counts what a window reads behind the padding");
    }
    return Algorithm::pooling_avg_include_padding;
  }
};

class GlobalPool final : public Pool {
 public:
  GlobalPool(PlanContext& context, Algorithm algorithm)
      : Pool(context, algorithm, OneDnnWindow(context.shape(0))) {}
};

}  // namespace

void register_pool(OperatorRegistry& registry) {
  add<MaxPool, nodes::MaxPool>(registry, MaxPool::check);
  add<AveragePool, nodes::AveragePool>(registry, AveragePool::check);
  add<GlobalPool, nodes::GlobalMaxPool>(registry, floats, Algorithm::pooling_max);
  add<GlobalPool, nodes::GlobalAveragePool>(registry, floats,
                                            Algorithm::pooling_avg_exclude_padding);
}

}  // namespace d5::onednn
