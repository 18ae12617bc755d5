// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>
#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "engine.hpp"
#include "memory_desc.hpp"
#include "pass.hpp"

namespace d5::onednn {

/// One ONNX node as oneDNN primitives. Constructors fill `forward_`, and `backward_` if gradients
/// are needed.
class OneDnnKernel : public Kernel {
 public:
  explicit OneDnnKernel(PlanContext& context) : context_(&context) {}

  void forward(OpContext& context) override { forward_.run(context); }
  void backward(GradContext& context) override { backward_.run(context); }
  [[nodiscard]] KernelTraits traits() const override { return traits_; }

  /// Requests the memory of both passes; called once, after construction.
  void finish_plan();

 protected:
  /// Input `i` in rows.
  [[nodiscard]] Argument input(std::size_t i) const;
  /// Input `i` in its current layout: one of oneDNN's if the executor keeps them.
  [[nodiscard]] Argument input_as_found(std::size_t i);
  /// Input `i` in the layout `wanted` if the executor keeps layouts, and therefore reorders it;
  /// otherwise as `rows` describes it.
  [[nodiscard]] Argument input_in(std::size_t i, const Desc& rows, const Desc& wanted);
  [[nodiscard]] Argument output(std::size_t k) const;
  /// Output `k` in the layout `desc` if the executor keeps it, otherwise row-major.
  [[nodiscard]] Argument output_in(std::size_t k, const Desc& desc);
  [[nodiscard]] Argument grad_output(std::size_t k) const;
  [[nodiscard]] Argument grad_input(std::size_t i) const;
  /// A tensor that forward writes and backward reads.
  [[nodiscard]] Argument save(const Desc& desc);

  /// Propagation kind of forward primitives: data for backward is kept only if needed.
  [[nodiscard]] dnnl::prop_kind direction() const;
  [[nodiscard]] PlanContext& context() const { return *context_; }

  Pass forward_, backward_;
  KernelTraits traits_{.backward_reads_outputs = {}};

 private:
  PlanContext* context_;  ///< while it is planned
};

/// Attributes for all primitives: d5 provides the scratch memory. `post_ops` follow the primitive.
[[nodiscard]] dnnl::primitive_attr attributes(const dnnl::post_ops& post_ops = {});

/// Whether all values are non-empty tensors of known shape, of floating-point types that oneDNN
/// computes with (float32, bfloat16, float16).
[[nodiscard]] Support floats(const PlanContext& context);
/// The same for some inputs and outputs; others may be of any type, and empty.
[[nodiscard]] Support floats(const PlanContext& context, Places inputs,
                             Places outputs = Places::all());
/// The same for all types that oneDNN has: float32, bfloat16, float16, int32, int8, uint8.
[[nodiscard]] Support numbers(const PlanContext& context);
[[nodiscard]] Support numbers(const PlanContext& context, Places inputs);

/// Call it in a handler: rethrows oneDNN's exceptions while planning as Unsupported, others
/// unchanged.
[[noreturn]] void rethrow(const std::string& who);

/// Registers `K`, made from a PlanContext and `arguments`, for nodes that `check` accepts.
template <std::derived_from<OneDnnKernel> K, class... Arguments>
void add(OperatorRegistry& registry, std::string name, OperatorVersions versions,
         Support (*check)(const PlanContext&), Arguments... arguments) {
  registry.add_kernel(
      std::move(name), std::move(versions),
      [arguments...](PlanContext& context) -> std::unique_ptr<Kernel> {
        try {
          auto kernel = std::make_unique<K>(context, arguments...);
          kernel->finish_plan();
          return kernel;
        } catch (...) {
          rethrow(context.who());
        }
      },
      check);
}
template <std::derived_from<OneDnnKernel> K, class View, class... Arguments>
void add(OperatorRegistry& registry, Support (*check)(const PlanContext&), Arguments... arguments) {
  add<K>(registry, std::string(View::kName),
         {.since = View::kSinceVersions.front(), .domain = std::string(View::kDomain)}, check,
         arguments...);
}

}  // namespace d5::onednn
