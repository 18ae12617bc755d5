// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_kernel.hpp"

#include <algorithm>
#include <cstring>

#include "d5/core/errors/error.hpp"
#include "permuted.hpp"

namespace d5::tensorflow {

TensorFlowKernel::TensorFlowKernel(PlanContext& context, const Translator& translate)
    : graph_(context.who()) {
  Terms inputs;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    inputs.push_back(add_input(context, i));
  }
  const Terms terms = translate(context, graph_, inputs);
  for (std::size_t k = 0; k < context.output_count(); ++k) {
    outputs_.push_back(context.wants_output(k) ? context.output(k) : TensorDesc{});
    if (!context.wants_output(k)) continue;
    if (k >= terms.size() || !is_there(terms[k])) {
      throw Unsupported(context.who() + ": TensorFlow's kernel gives no output " +
                        std::to_string(k));
    }
    forward_.results.push_back(arranged(context, k, terms[k]));
    forward_places_.push_back(k);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) want_order(context, i);
  prepare(forward_);
  if (context.wants_backward()) add_backward(context);
  find_traits(context);
}

/// Adds input `i`: the fed term, and the one that the translator reads.
Term TensorFlowKernel::add_input(PlanContext& context, std::size_t i) {
  Term& fed = forward_.fed.emplace_back();
  if (!context.has_input(i)) return fed;
  const TensorDesc& desc = context.input(i);
  const Permuted* found = context.keeps_layouts() ? permuted(desc) : nullptr;
  fed = graph_.placeholder(found ? found->transposed() : desc);
  if (!found) return fed;
  context.accept_layout(i);
  return graph_.channels_first(fed);  // no kernel writes in another order than channels last
}

void TensorFlowKernel::want_order(PlanContext& context, std::size_t i) {
  if (!context.keeps_layouts() || !is_there(forward_.fed[i])) return;
  const Graph::Reordered* there = graph_.reordered(forward_.fed[i]);
  if (!there) return;
  forward_.fed[i] = there->term;
  context.want_layout(i, std::make_shared<Permuted>(context.input(i), there->order));
}

/// `y`, or `y` before its channels came first.
Term TensorFlowKernel::arranged(PlanContext& context, std::size_t k, Term y) {
  const std::size_t rank = context.output(k).shape.rank();
  if (!context.keeps_layouts() || rank < 3 || !graph_.has_channels_last(y)) return y;
  const auto order = std::make_shared<Permuted>(outputs_[k], channels_last_order(rank));
  context.arrange_output(k, order);
  outputs_[k].layout = Layout::opaque;
  outputs_[k].arrangement = order;
  return graph_.channels_last(y);
}

void TensorFlowKernel::add_backward(const PlanContext& context) {
  const std::size_t inputs = context.input_count(), outputs = outputs_.size();
  backward_.fed = forward_.fed;
  backward_.fed.resize(inputs + 2 * outputs);  // inputs, outputs, gradients of outputs
  Terms ys, slopes, xs;
  for (std::size_t r = 0; r < forward_.results.size(); ++r) {
    const std::size_t k = forward_places_[r];
    const Term y = forward_.results[r];
    if (!is_floating_point(outputs_[k].dtype)) continue;
    backward_.fed[inputs + k] = y;
    ys.push_back(graph_.add("Identity", {y}));  // none is on the way to another
    slopes.push_back(graph_.placeholder(outputs_[k]));
    backward_.fed[inputs + outputs + k] = slopes.back();
  }
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < inputs; ++i) {
    if (!context.wants_grad(i)) continue;
    xs.push_back(forward_.fed[i]);
    places.push_back(i);
  }
  const Terms gradients = graph_.gradients(ys, xs, slopes);
  for (std::size_t g = 0; g < gradients.size(); ++g) {
    if (is_there(gradients[g])) {
      backward_.results.push_back(gradients[g]);
      backward_places_.push_back(places[g]);
    } else {
      independent_.push_back(places[g]);
    }
  }
  zeros_.resize(outputs);
  prepare(backward_);
}

void TensorFlowKernel::find_traits(const PlanContext& context) {
  traits_ = {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  if (backward_.program) {
    const std::size_t inputs = context.input_count();
    for (std::size_t i = 0; i < inputs; ++i) {
      if (backward_.program->reads(i)) traits_.backward_reads_inputs.add(i);
    }
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      if (backward_.program->reads(inputs + k)) traits_.backward_reads_outputs.add(k);
    }
  }
  // The output is written after the whole computation.
  if (outputs_.size() == 1 && context.has_input(0) && context.input(0) == outputs_[0]) {
    traits_.in_place_output = 0;
  }
}

void TensorFlowKernel::prepare(Direction& direction) {
  if (direction.program && direction.program->is_current()) return;
  direction.program.emplace(graph_, direction.fed, direction.results);
  direction.views.resize(direction.fed.size());
  direction.handles.assign(direction.fed.size(), nullptr);
}

void TensorFlowKernel::forward(OpContext& context) {
  prepare(forward_);
  EagerProgram& program = *forward_.program;
  for (std::size_t i = 0; i < forward_.fed.size(); ++i) {
    if (program.reads(i)) forward_.handles[i] = forward_.views[i].of(context.input(i));
  }
  program.run(forward_.handles);
  for (std::size_t r = 0; r < forward_places_.size(); ++r) {
    const std::size_t k = forward_places_[r];
    if (!context.wants_output(k)) continue;
    const TensorPointer result = program.result(r);
    Tensor& output = context.planned_outputs.contains(k) ? context.output(k)
                                                         : context.allocate(k, desc_of(*result));
    copy_to(output, *result);
  }
  program.forget();
}

const Tensor& TensorFlowKernel::zeros(std::size_t output) {
  if (!zeros_[output].defined()) zeros_[output] = Tensor::zeros(outputs_[output]);
  return zeros_[output];
}

void TensorFlowKernel::backward(GradContext& context) {
  prepare(backward_);
  EagerProgram& program = *backward_.program;
  const std::size_t outputs = outputs_.size(), inputs = backward_.fed.size() - 2 * outputs;
  const auto take = [&](std::size_t place, const Tensor& tensor) {
    backward_.handles[place] = backward_.views[place].of(tensor);
  };
  for (std::size_t i = 0; i < inputs; ++i) {
    if (program.reads(i)) take(i, context.input(i));
  }
  for (std::size_t k = 0; k < outputs; ++k) {
    if (program.reads(inputs + k)) take(inputs + k, context.output(k));
    const std::size_t slope = inputs + outputs + k;
    if (!program.reads(slope)) continue;
    take(slope, context.has_grad_output(k) ? context.grad_output(k) : zeros(k));
  }
  program.run(backward_.handles);
  for (std::size_t r = 0; r < backward_places_.size(); ++r) {
    const std::size_t i = backward_places_[r];
    if (context.wants_grad(i)) copy_to(context.grad_input(i), *program.result(r));
  }
  program.forget();
  for (const std::size_t i : independent_) {
    if (!context.wants_grad(i)) continue;
    Tensor& gradient = context.grad_input(i);
    if (gradient.bytes() > 0) std::memset(gradient.raw(), 0, gradient.bytes());
  }
}

}  // namespace d5::tensorflow
