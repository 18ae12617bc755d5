// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/operator/composed_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/arena.hpp"

namespace d5::detail {
namespace {

void add_to(Tensor& sum, const Tensor& term) {
  dispatch(RealTypes{}, sum.dtype(), "sum of gradients", [&]<class T>() {
    T* to = sum.data<T>();
    const T* from = term.data<T>();
    for (std::int64_t i = 0; i < sum.elements(); ++i) to[i] += from[i];
  });
}

/// Wraps memory as a tensor, again only if the memory has moved.
void lie_at(Tensor& tensor, const TensorDesc& desc, void* memory) {
  if (!tensor.defined() || tensor.raw() != memory) tensor = Tensor::borrow(desc, memory);
}

/// Requested memory: an offset in scratch, or the index of a saved tensor.
struct Room {
  std::size_t offset = 0;
  std::optional<std::size_t> saved = {};
};

class ComposedKernel final : public Kernel {
 public:
  ComposedKernel(PlanContext& context, const Composition& c) {
    for (const auto& entry : c.entries()) terms_.push_back(make_term(context, entry));
    std::size_t step_scratch = 0;
    for (const auto& step : c.steps()) steps_.push_back(make_step(context, c, step, step_scratch));
    std::size_t backward_bytes = 0;
    if (context.wants_backward()) backward_bytes = lay_out_gradients();
    own_scratch_ = std::max(forward_bytes_, backward_bytes);
    context.request_scratch(own_scratch_ + step_scratch);
  }

  void forward(OpContext& context) override {
    for (Term& term : terms_) {
      term.shown = shown(term, context.inputs, context.outputs);
      if (!term.room) continue;
      void* memory = term.room->saved ? context.saved(*term.room->saved).raw()
                                      : context.scratch().data() + term.room->offset;
      place(term, memory);
    }
    for (Step& step : steps_) {
      show(step);
      OpContext own = context;
      own.inputs = step.inputs;
      own.outputs = step.outputs;
      own.planned_outputs = Places::all();
      own.scratch_bytes = context.scratch().subspan(own_scratch_);
      own.saved_tensors = saved_of(step, context.saved_tensors);
      own.context_node = &step.node;
      step.kernel->forward(own);
    }
  }

  void backward(GradContext& context) override {
    for (Term& term : terms_) {
      term.shown = shown(term, context.inputs, context.outputs);
      if (term.room) place(term, context.saved(*term.room->saved).raw());
      term.arrived = false;
      if (term.gradient_at) {
        lie_at(term.gradient, term.desc.tensor, context.scratch().data() + *term.gradient_at);
      }
      const auto k = std::size_t(term.output);
      if (term.needs && term.output >= 0 && context.has_grad_output(k)) {
        term.gradient.copy_from(context.grad_output(k));
        term.arrived = true;
      }
    }
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      if (!step->wanted.empty()) run_back(*step, context);
    }
    for (const Term& term : terms_) {
      const auto i = std::size_t(term.input);
      if (term.input >= 0 && context.wants_grad(i) && !term.arrived) {
        std::memset(context.grad_input(i).raw(), 0, context.grad_input(i).bytes());
      }
    }
  }

 private:
  struct Term {
    ValueDesc desc;
    std::int64_t input = -1, output = -1;
    const Value* constant = nullptr;
    std::shared_ptr<const Value> own;
    std::optional<Room> room = {};  ///< memory of an intermediate value
    Value value = {};               ///< wraps `room`
    const Value* shown = nullptr;   ///< the value in this run
    bool needs = false;             ///< its gradient is required
    /// Offset in scratch; an input's gradient has memory of its own.
    std::optional<std::size_t> gradient_at = {};
    Tensor gradient = {};
    bool arrived = false;  ///< the gradient has been written in this run
  };
  struct Step {
    std::shared_ptr<const Operator> op;
    onnx::Node node;
    std::unique_ptr<Kernel> kernel = {};
    std::vector<std::int64_t> from = {}, to = {};  ///< terms; -1: omitted
    Places wanted = {};
    std::size_t saved_from = 0, saved_count = 0;
    std::vector<std::size_t> second_at = {};  ///< per input: memory of a gradient to be added
    std::vector<Tensor> seconds = {};
    // The kernel's view of its values.
    std::vector<const Value*> inputs = {}, values = {};
    std::vector<Value*> outputs = {};
    std::vector<const Tensor*> grad_outputs = {};
    std::vector<Tensor*> grad_inputs = {};
  };

  Term make_term(PlanContext& context, const Composition::Entry& entry) {
    Term term{.desc = entry.desc,
              .input = entry.input,
              .output = entry.output,
              .constant = entry.own ? entry.constant : nullptr,
              .own = entry.own};
    term.needs = entry.input >= 0 && context.wants_grad(std::size_t(entry.input));
    const bool is_written = entry.output >= 0 && context.wants_output(std::size_t(entry.output));
    if (entry.input >= 0 || entry.own || is_written) return term;
    if (!entry.desc.is_static()) {
      throw Unsupported(
          fmt::format("{}: the size of an intermediate value is known only at run time; make the "
                      "inputs that determine it constant",
                      context.who()));
    }
    if (context.wants_backward()) {
      term.room = Room{.saved = context.save(entry.desc.tensor)};
    } else {
      term.room = Room{.offset = forward_bytes_};
      forward_bytes_ += Arena::aligned(entry.desc.tensor.bytes());
    }
    return term;
  }

  Step make_step(PlanContext& context, const Composition& c, const Composition::Step& from,
                 std::size_t& scratch) {
    Step step{.op = from.op, .node = from.node};
    bool needs = false;
    const Places differentiable = from.op->gradients();
    for (std::size_t i = 0; i < from.inputs.size(); ++i) {
      const std::int64_t id = from.inputs[i].id;
      step.from.push_back(id);
      if (id < 0 || !terms_[std::size_t(id)].needs || !differentiable.contains(i)) continue;
      step.wanted.add(i);
      needs = true;
    }
    for (const auto term : from.outputs) {
      step.to.push_back(term.id);
      terms_[std::size_t(term.id)].needs = needs;
    }
    const auto inputs = c.descs(from.inputs), outputs = c.descs(from.outputs);
    const auto constants = c.constants(from.inputs);
    PlanContext own(
        *step.op, from.node, inputs, constants, outputs,
        {.mode = context.mode(), .device = context.device(), .grad_inputs = step.wanted});
    step.kernel = step.op->plan(own);
    scratch = std::max(scratch, own.scratch_bytes());
    step.saved_count = own.saved().size();
    for (std::size_t k = 0; k < step.saved_count; ++k) {
      const std::size_t place = context.save(own.saved()[k]);
      if (k == 0) step.saved_from = place;
    }
    step.inputs.resize(step.from.size());
    step.seconds.resize(step.from.size());
    step.second_at.resize(step.from.size());
    step.grad_inputs.resize(step.from.size());
    step.values.resize(step.to.size());
    step.outputs.resize(step.to.size());
    step.grad_outputs.resize(step.to.size());
    return step;
  }

  /// Lays out the gradients of the whole pass, followed by those of one step that are to be added.
  std::size_t lay_out_gradients() {
    std::size_t bytes = 0, most = 0;
    for (Term& term : terms_) {
      if (!term.needs || term.input >= 0) continue;
      term.gradient_at = bytes;
      bytes += Arena::aligned(term.desc.tensor.bytes());
    }
    for (Step& step : steps_) {
      std::size_t end = bytes;
      for (std::size_t i = 0; i < step.from.size(); ++i) {
        if (!step.wanted.contains(i)) continue;
        step.second_at[i] = end;
        end += Arena::aligned(terms_[std::size_t(step.from[i])].desc.tensor.bytes());
      }
      most = std::max(most, end);
    }
    return most;
  }

  static const Value* shown(const Term& term, std::span<const Value* const> inputs, auto outputs) {
    if (term.input >= 0) return inputs[std::size_t(term.input)];
    if (term.constant) return term.constant;
    if (!term.room) return outputs[std::size_t(term.output)];
    return nullptr;
  }
  static void place(Term& term, void* memory) {
    if (!term.value.is_tensor()) term.value = Tensor();
    lie_at(term.value.tensor(), term.desc.tensor, memory);
    term.shown = &term.value;
  }
  void show(Step& step) {
    for (std::size_t i = 0; i < step.from.size(); ++i) {
      step.inputs[i] = step.from[i] < 0 ? nullptr : terms_[std::size_t(step.from[i])].shown;
    }
    for (std::size_t k = 0; k < step.to.size(); ++k) {
      step.values[k] = terms_[std::size_t(step.to[k])].shown;
      step.outputs[k] = const_cast<Value*>(step.values[k]);  // writable in forward
    }
  }
  static std::span<Tensor> saved_of(const Step& step, std::span<Tensor> all) {
    return step.saved_count == 0 ? std::span<Tensor>()
                                 : all.subspan(step.saved_from, step.saved_count);
  }

  void run_back(Step& step, GradContext& context) {
    bool arrives = false;
    for (std::size_t k = 0; k < step.to.size(); ++k) {
      const Term& term = terms_[std::size_t(step.to[k])];
      step.grad_outputs[k] = term.arrived ? &term.gradient : nullptr;
      arrives = arrives || term.arrived;
    }
    if (!arrives) return;
    for (std::size_t i = 0; i < step.from.size(); ++i)
      step.grad_inputs[i] = wanted(step, i, context);
    show(step);
    GradContext own = context;
    own.inputs = step.inputs;
    own.outputs = step.values;
    own.grad_outputs = step.grad_outputs;
    own.grad_inputs = step.grad_inputs;
    own.scratch_bytes = context.scratch().subspan(own_scratch_);
    own.saved_tensors = saved_of(step, context.saved_tensors);
    own.context_node = &step.node;
    step.kernel->backward(own);
    for (std::size_t i = 0; i < step.from.size(); ++i) {
      if (step.grad_inputs[i] == &step.seconds[i]) {
        add_to(gradient_of(terms_[std::size_t(step.from[i])], context), step.seconds[i]);
      }
    }
  }

  static Tensor& gradient_of(Term& term, const GradContext& context) {
    return term.input >= 0 ? context.grad_input(std::size_t(term.input)) : term.gradient;
  }
  /// The memory for the gradient of the step's input `i`: the term's for the first one that
  /// arrives.
  Tensor* wanted(Step& step, std::size_t i, const GradContext& context) {
    if (!step.wanted.contains(i)) return nullptr;
    Term& term = terms_[std::size_t(step.from[i])];
    if (!std::exchange(term.arrived, true)) return &gradient_of(term, context);
    lie_at(step.seconds[i], term.desc.tensor, context.scratch().data() + step.second_at[i]);
    return &step.seconds[i];
  }

  std::vector<Term> terms_;
  std::vector<Step> steps_;
  std::size_t forward_bytes_ = 0, own_scratch_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> composed_kernel(PlanContext& context, const Composition& composition) {
  return std::make_unique<ComposedKernel>(context, composition);
}

}  // namespace d5::detail
