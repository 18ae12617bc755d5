// SPDX-License-Identifier: Apache-2.0
// Scan of opset 8, with batches: each sample is scanned separately, up to its length. Later
// versions have neither batches nor lengths: see scan.cpp.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/gradient_memory.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/kernels/moving/stack_values.hpp"
#include "level0_ops/kernels/recurrent/scan_sequence.hpp"

namespace d5::ops {
namespace {

using ScanView = onnx::nodes::Scan;
using Directions = std::vector<std::int64_t>;

/// Input 0 has the lengths, followed by states and scanned inputs.
class BatchScanKernel final : public Kernel {
 public:
  BatchScanKernel(std::size_t scanned, Directions directions, bool goes_back)
      : scanned_(scanned), directions_(std::move(directions)), goes_back_(goes_back) {}

  void forward(OpContext& context) override {
    const Extent extent = expect_extent(context);
    services_ = &context.services();
    body_ = &services_->subgraph("body");
    if (goes_back_) body_->keep_runs(Places::all());
    lengths_.clear();
    std::vector<std::vector<Value>> samples(context.output_count());
    const std::size_t states_count = first_scanned(context) - 1;
    for (std::int64_t b = 0; b < extent.batch; ++b) {
      lengths_.push_back(length(context, b, extent.steps));
      std::vector<detail::StackedSlices> stacks(samples.size() - states_count);
      for (auto& stack : stacks) stack.begin(extent.steps);
      const auto states = scan_sample(context, b, lengths_.back(), stacks);
      for (std::size_t k = 0; k < samples.size(); ++k) {
        if (!context.wants_output(k)) continue;
        samples[k].push_back(k < states_count ? states[k]
                                              : filled_up(context, stacks[k - states_count]));
      }
    }
    for (std::size_t k = 0; k < samples.size(); ++k) {
      if (context.wants_output(k)) context.set_output(k, detail::stack_values(context, samples[k]));
    }
  }

  void backward(GradContext& context) override {
    for (std::size_t i = 1; i < context.input_count(); ++i) detail::give_gradient(context, i, {});
    for (std::size_t b = lengths_.size(); b-- > 0;) sample_backward(context, b);
  }

  /// Backward runs the first step of a sample again on its initial states.
  KernelTraits traits() const override { return {.backward_reads_outputs = {}}; }

 private:
  struct Extent {
    std::int64_t batch, steps;
  };

  [[nodiscard]] std::size_t first_scanned(const OpContext& context) const {
    return context.input_count() - scanned_;
  }

  [[nodiscard]] Extent expect_extent(const OpContext& context) const {
    const std::size_t first = first_scanned(context);
    const Shape& scanned = context.input(first).shape();
    if (scanned.rank() < 2 || scanned[0] < 1) {
      throw ShapeError(
          fmt::format("{}: a scanned input is {}, expected samples of a batch, and "
                      "their steps",
                      context.who(), to_string(scanned)));
    }
    const Extent extent{scanned[0], scanned[1]};
    for (std::size_t i = 1; i < context.input_count(); ++i) {
      const Shape& shape = context.input(i).shape();
      const bool fits =
          i < first ? shape.rank() >= 1 && shape[0] == extent.batch
                    : shape.rank() >= 2 && shape[0] == extent.batch && shape[1] == extent.steps;
      if (!fits) {
        throw ShapeError(fmt::format("{}: input {} is {}, expected {}{}x...", context.who(), i,
                                     to_string(shape), extent.batch,
                                     i < first ? "" : fmt::format("x{}", extent.steps)));
      }
    }
    if (context.has_input(0) && context.input(0).shape() != Shape{extent.batch}) {
      throw ShapeError(fmt::format("{}: sequence_lens is {}, expected {}", context.who(),
                                   to_string(context.input(0).shape()), extent.batch));
    }
    return extent;
  }

  static std::int64_t length(const OpContext& context, std::int64_t sample, std::int64_t steps) {
    if (!context.has_input(0)) return steps;
    const std::int64_t length = context.input(0).data<std::int64_t>()[sample];
    if (length < 0 || length > steps) {
      throw ValueError(fmt::format("{}: sequence {} has {} steps, expected 0 to {}", context.who(),
                                   sample, length, steps));
    }
    return length;
  }

  [[nodiscard]] std::vector<Value> scan_sample(const OpContext& context, std::int64_t sample,
                                               std::int64_t length,
                                               std::span<detail::StackedSlices> stacks) {
    const std::size_t first = first_scanned(context);
    const auto part = [&](std::size_t i) {
      return detail::slice_of(context.services(), context.input(i), 0, sample);
    };
    std::vector<Value> states;
    for (std::size_t i = 1; i < first; ++i) states.emplace_back(part(i));
    std::vector<detail::ScannedTensor> inputs;
    for (std::size_t k = 0; k < scanned_; ++k) {
      inputs.push_back({.x = part(first + k), .backwards = goes_backwards(k)});
    }
    return detail::scan_sequence(context, std::move(states), inputs, length, stacks, slices_);
  }

  void sample_backward(const GradContext& context, std::size_t sample) {
    const std::size_t first = context.input_count() - scanned_, count = first - 1;
    const auto arriving = [&](std::size_t k) {
      return context.has_grad_output(k)
                 ? detail::slice_of(*services_, context.grad_output(k), 0, std::int64_t(sample))
                 : Tensor();
    };
    std::vector<Tensor> states;
    for (std::size_t k = 0; k < count; ++k) states.push_back(arriving(k));
    std::vector<detail::ScannedTensor> stacks, inputs;
    for (std::size_t k = count; k < context.output_count(); ++k) stacks.push_back({arriving(k)});
    for (std::size_t k = 0; k < scanned_; ++k) {
      auto& input = inputs.emplace_back(detail::ScannedTensor{.backwards = goes_backwards(k)});
      if (!context.wants_grad(first + k)) continue;
      input.x = detail::slice_of(*services_, context.grad_input(first + k), 0,
                                 std::int64_t(sample));  // initially zeros
    }
    detail::scan_back(*body_, *services_, states, stacks, inputs, lengths_[sample]);
    for (std::size_t k = 0; k < count; ++k) give_sample(context, 1 + k, sample, states[k]);
    for (std::size_t k = 0; k < scanned_; ++k) {
      give_sample(context, first + k, sample, inputs[k].x);
    }
  }

  static void give_sample(const GradContext& context, std::size_t i, std::size_t sample,
                          const Tensor& arrived) {
    if (!arrived.defined() || !context.wants_grad(i)) return;
    Tensor& whole = context.grad_input(i);
    detail::TensorPart(whole.desc(), 0, std::int64_t(sample), 1).paste(arrived, whole);
  }

  [[nodiscard]] bool goes_backwards(std::size_t k) const {
    return k < directions_.size() && directions_[k] != 0;
  }

  /// Elements after the end of a short sequence are zero.
  static const Value& filled_up(const OpContext& context, detail::StackedSlices& stack) {
    if (stack.empty()) {
      throw ShapeError(fmt::format("{}: a sequence of no steps does not say what its outputs are",
                                   context.who()));
    }
    stack.fill_up(context);
    return stack.whole(context);
  }

  std::size_t scanned_;
  Directions directions_;
  bool goes_back_;
  // State of the last run.
  std::vector<detail::RecycledTensors> slices_;
  SubgraphRunner* body_ = nullptr;
  RunServices* services_ = nullptr;
  std::vector<std::int64_t> lengths_;  ///< lengths of the samples
};

/// Shapes: states are [batch, ...], and scanned tensors [batch, steps, ...]. The outputs are known
/// only at run time; the work is counted at the body's nodes.
class BatchScan final : public MovingOperator {
 public:
  explicit BatchScan(const ScanView& view)
      : scanned_(std::size_t(view.num_scan_inputs())),
        directions_(view.directions().value_or(Directions())) {
    const std::size_t inputs = view.node().inputs.size();
    if (view.num_scan_inputs() < 1 || scanned_ >= inputs) {
      throw ValueError(fmt::format("{}: num_scan_inputs is {} but there are {} inputs",
                                   onnx::describe(view.node()), view.num_scan_inputs(), inputs));
    }
  }
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return std::vector<ValueDesc>(context.output_count());
  }
  /// Gradients of states, scanned inputs and captured values.
  Places gradients() const override { return Places::all(); }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return std::make_unique<BatchScanKernel>(scanned_, directions_, context.wants_backward());
  }

 private:
  std::size_t scanned_;
  Directions directions_;
};

}  // namespace

void register_scan_of_batches(OperatorRegistry& registry) {
  registry.add(std::string(ScanView::kName), {.since = 8, .until = 8},
               [](const onnx::Node& node) { return std::make_unique<BatchScan>(ScanView(node)); });
}

}  // namespace d5::ops
