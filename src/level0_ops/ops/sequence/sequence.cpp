// SPDX-License-Identifier: Apache-2.0
// SequenceConstruct, SequenceEmpty, SequenceInsert, SequenceErase, SequenceAt, SequenceLength.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/element_type.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/moving/stack_values.hpp"
#include "level0_ops/operator/integers.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

/// Throws: TypeError if the input is not a sequence.
const ValueDesc& sequence_desc(const InferContext& context, std::size_t i) {
  const ValueDesc& desc = context.value(i);
  if (desc.kind == ValueKind::sequence) return desc;
  throw TypeError(
      fmt::format("{}: input {} is {}, expected a sequence", context.who(), i, to_string(desc)));
}

/// The position in an optional scalar input, from [-size, last], counted from the front.
std::size_t position(const OpContext& context, std::size_t input, std::int64_t size,
                     std::int64_t last) {
  const auto given = detail::integers_of(context.input(input), context.node().op_type);
  if (given.size() != 1) {
    throw ShapeError(fmt::format("{}: the position is {}, expected a scalar", context.who(),
                                 to_string(context.input(input).shape())));
  }
  if (given[0] < -size || given[0] > last) {
    throw ValueError(fmt::format("{}: position {} is outside [{}, {}] of a sequence of {}",
                                 context.who(), given[0], -size, last, size));
  }
  return std::size_t(given[0] < 0 ? given[0] + size : given[0]);
}

/// Sequences contain copies, because tensors of the plan may not outlive the run.
class SequenceConstruct final : public MovingOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    for (std::size_t i = 1; i < context.input_count(); ++i) {
      if (context.dtype(i) != context.dtype(0)) {
        throw TypeError(fmt::format("{}: input {} is {} but input 0 is {}", context.who(), i,
                                    name_of(context.dtype(i)), name_of(context.dtype(0))));
      }
    }
    return {ValueDesc::sequence_of(context.input(0))};
  }
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return detail::forward_kernel([](OpContext& context) {
      Sequence result{context.input(0).desc(), {}};
      for (std::size_t i = 0; i < context.input_count(); ++i) {
        result.values.push_back(detail::copy_of(context.services(), context.input(i)));
      }
      context.set_output(0, std::move(result));
    });
  }
};

class SequenceEmpty final : public MovingOperator {
 public:
  explicit SequenceEmpty(const nodes::SequenceEmpty& view)
      : dtype_(view.dtype() ? detail::element_type(view.node(), "dtype", *view.dtype())
                            : DType::float32) {}
  std::vector<ValueDesc> infer(const InferContext&) const override {
    return {ValueDesc::sequence_of(TensorDesc{dtype_, {}})};
  }
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return detail::forward_kernel([dtype = dtype_](OpContext& context) {
      context.set_output(0, Sequence{TensorDesc{dtype, {}}, {}});
    });
  }

 private:
  DType dtype_;
};

class SequenceInsert final : public MovingOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const ValueDesc& sequence = sequence_desc(context, 0);
    const ValueDesc& value = context.value(1);
    const bool typed = sequence.element && sequence.element->is_tensor() && value.is_tensor();
    if (typed && sequence.element->tensor.dtype != value.tensor.dtype) {
      throw TypeError(fmt::format("{}: {} cannot be inserted into a {}", context.who(),
                                  to_string(value), to_string(sequence)));
    }
    return {sequence};
  }
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return detail::forward_kernel([](OpContext& context) {
      Sequence result = context.input_value(0).sequence();
      const auto size = std::int64_t(result.values.size());
      const std::size_t place =
          context.has_input(2) ? position(context, 2, size, size) : result.values.size();
      result.values.insert(result.values.begin() + std::ptrdiff_t(place),
                           detail::copy_of(context.services(), context.input(1)));
      context.set_output(0, std::move(result));
    });
  }
};

class SequenceErase final : public MovingOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {sequence_desc(context, 0)};
  }
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return detail::forward_kernel([](OpContext& context) {
      Sequence result = context.input_value(0).sequence();
      const auto size = std::int64_t(result.values.size());
      if (size == 0) throw ValueError(fmt::format("{}: the sequence is empty", context.who()));
      const std::size_t place =
          context.has_input(1) ? position(context, 1, size, size - 1) : std::size_t(size - 1);
      result.values.erase(result.values.begin() + std::ptrdiff_t(place));
      context.set_output(0, std::move(result));
    });
  }
};

/// The output is known only at run time, from the sequence's content.
class SequenceAt final : public MovingOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    sequence_desc(context, 0);
    return {ValueDesc{}};
  }
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return detail::forward_kernel([](OpContext& context) {
      const auto& values = context.input_value(0).sequence().values;
      const auto size = std::int64_t(values.size());
      context.set_output(0, values[position(context, 1, size, size - 1)]);
    });
  }
};

class SequenceLength final : public MovingOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    sequence_desc(context, 0);
    return {TensorDesc{DType::int64, Shape{}}};
  }
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return detail::forward_kernel([](OpContext& context) {
      *context.output(0).data<std::int64_t>() =
          std::int64_t(context.input_value(0).sequence().values.size());
    });
  }
};

}  // namespace

void register_sequence(OperatorRegistry& registry) {
  registry.add<SequenceConstruct, nodes::SequenceConstruct>();
  registry.add<SequenceEmpty, nodes::SequenceEmpty>();
  registry.add<SequenceInsert, nodes::SequenceInsert>();
  registry.add<SequenceErase, nodes::SequenceErase>();
  registry.add<SequenceAt, nodes::SequenceAt>();
  registry.add<SequenceLength, nodes::SequenceLength>();
}

}  // namespace d5::ops
