// SPDX-License-Identifier: Apache-2.0
#include "onednn_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5::onednn {
namespace {

using Type = dnnl::memory::data_type;

/// Reason why a value is unsupported; empty if it is supported.
std::string obstacle(const ValueDesc& desc, bool with_integers) {
  if (desc.kind == ValueKind::none) return {};
  if (!desc.is_tensor()) return to_string(desc) + "; it takes tensors only";
  const Type type = data_type(desc.tensor.dtype);
  const bool is_float = type == Type::f32 || type == Type::bf16 || type == Type::f16;
  if (type == Type::undef || !(is_float || with_integers)) {
    return "element type " + std::string(name_of(desc.tensor.dtype));
  }
  if (!desc.is_static()) return "a shape that is known only at run time";
  if (desc.tensor.elements() == 0) return "a tensor without elements";
  if (desc.tensor.shape.rank() > DNNL_MAX_NDIMS) {
    return fmt::format("more than {} dimensions", DNNL_MAX_NDIMS);
  }
  return {};
}

Support all_are(const PlanContext& context, Places inputs, Places outputs, bool with_integers) {
  std::string reason;
  const auto look = [&](const ValueDesc& desc) {
    if (reason.empty()) reason = obstacle(desc, with_integers);
  };
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (inputs.contains(i) && context.has_input(i)) look(context.value(i));
  }
  for (std::size_t k = 0; k < context.output_count(); ++k) {
    if (outputs.contains(k) && context.wants_output(k)) look(context.output_value(k));
  }
  return {reason};
}

}  // namespace

void OneDnnKernel::finish_plan() {
  context_->request_scratch(std::max(forward_.scratch_bytes(), backward_.scratch_bytes()));
  context_ = nullptr;
}

Argument OneDnnKernel::input(std::size_t i) const {
  return {Argument::Place::input, i, rows(context_->input(i))};
}
Argument OneDnnKernel::input_as_found(std::size_t i) {
  const Argument in_rows = input(i);
  const Blocked* found = context_->keeps_layouts() ? blocked(context_->input(i)) : nullptr;
  if (!found || found->rows() != in_rows.desc) return in_rows;
  context_->accept_layout(i);
  return in_rows.as(found->desc());
}
Argument OneDnnKernel::input_in(std::size_t i, const Desc& rows, const Desc& wanted) {
  if (!context_->keeps_layouts() || wanted == rows) return input(i).as(rows);
  context_->want_layout(i, std::make_shared<Blocked>(wanted, rows));
  return input(i).as(wanted);
}
Argument OneDnnKernel::output(std::size_t k) const {
  return {Argument::Place::output, k, rows(context_->output(k))};
}
Argument OneDnnKernel::output_in(std::size_t k, const Desc& desc) {
  const Argument in_rows = output(k);
  if (!context_->keeps_layouts() || desc == in_rows.desc) return in_rows;
  context_->arrange_output(k, std::make_shared<Blocked>(desc, in_rows.desc));
  return in_rows.as(desc);
}
Argument OneDnnKernel::grad_output(std::size_t k) const {
  return {Argument::Place::grad_output, k, rows(context_->output(k))};
}
Argument OneDnnKernel::grad_input(std::size_t i) const {
  return {Argument::Place::grad_input, i, rows(context_->input(i))};
}
Argument OneDnnKernel::save(const Desc& desc) {
  const Shape bytes{std::int64_t(desc.get_size())};
  return {Argument::Place::saved, context_->save({DType::uint8, bytes}), desc};
}

dnnl::prop_kind OneDnnKernel::direction() const {
  return context_->wants_backward() ? dnnl::prop_kind::forward_training
                                    : dnnl::prop_kind::forward_inference;
}

dnnl::primitive_attr attributes(const dnnl::post_ops& post_ops) {
  dnnl::primitive_attr result;
  result.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  result.set_post_ops(post_ops);
  return result;
}

Support floats(const PlanContext& context) { return floats(context, Places::all()); }
Support floats(const PlanContext& context, Places inputs, Places outputs) {
  return all_are(context, inputs, outputs, false);
}
Support numbers(const PlanContext& context, Places inputs) {
  return all_are(context, inputs, Places::all(), true);
}
Support numbers(const PlanContext& context) {
  return all_are(context, Places::all(), Places::all(), true);
}

void rethrow(const std::string& who) {
  try {
    throw;
  } catch (const dnnl::error& error) {
    const char* why = error.status == dnnl_unimplemented
                          ? "oneDNN has no implementation for these types and shapes on this "
                            "processor"
                          : "oneDNN refuses it";
    throw Unsupported(fmt::format("{}: {} ({})", who, why, error.what()));
  }
}

}  // namespace d5::onednn
