// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "d5/level0_ops/operator/plan_context.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/arithmetic_copy.hpp"
#include "level0_ops/kernels/gradient_memory.hpp"
#include "level0_ops/kernels/matrix/dynamic_range.hpp"
#include "level0_ops/kernels/matrix/matrix_product.hpp"
#include "level0_ops/kernels/parallel_each.hpp"
#include "level0_ops/kernels/recurrent/recurrent_cell.hpp"
#include "level0_ops/kernels/recurrent/recurrent_layout.hpp"

namespace d5::detail {

/// Kernel of RNN, GRU and LSTM, which differ in `Cell<A>`. Shapes: see RecurrentLayout.
///
/// After the end of a sample shorter than S, its state is constant and its Y zero. Backward is
/// backpropagation through time.
template <template <class> class Cell, class A>
class RecurrentKernel final : public Kernel {
 public:
  /// `rules` must outlive the kernel.
  RecurrentKernel(const RecurrentLayout& layout, const CellRules& rules, PlanContext& context,
                  std::int64_t scratch = 0)
      : s_(layout),
        rules_(rules),
        x_(context, In::X, scratch),
        w_(context, In::W, scratch),
        r_(context, In::R, scratch),
        b_(context, In::B, scratch),
        initial_h_(context, In::initial_h, scratch),
        initial_c_(context, In::initial_c, scratch),
        p_(context, In::P, scratch),
        y_(context, Out::Y, scratch),
        y_h_(context, Out::Y_h, scratch),
        y_c_(context, Out::Y_c, scratch),
        at_(scratch) {
    // Refuses sizes whose number of elements overflows; all kept memory is smaller.
    const auto counted = [](std::int64_t size) { return std::max<std::int64_t>(size, 1); };
    (void)Shape{256, counted(s_.steps), counted(s_.batch), counted(s_.hidden)}.elements();
    const std::int64_t kept = s_.directions * direction_size();
    // One step's products with R, and the quantized states, if R is multiplied by these.
    std::int64_t needed = s_.batch * gates();
    if (rules_.quantizes_state) needed += s_.batch * s_.hidden;
    if (context.wants_backward()) {
      saved_ = context.save({dtype_of<A>, {kept}});
      // The gates' gradients in two orders, and four of the state.
      needed = std::max(needed, 2 * rows() * gates() + 4 * s_.batch * s_.hidden);
    } else {
      needed += kept;
    }
    context.request_scratch(std::size_t(at_ + needed) * sizeof(A));
  }

  void forward(OpContext& context) override {
    A* scratch = context.scratch_as<A>();
    const Inputs in = read(context, scratch);
    const Outputs out{y_.memory(context, scratch), y_h_.memory(context, scratch),
                      y_c_.memory(context, scratch)};
    A* recurrent = scratch + at_;
    A* quantized = recurrent + s_.batch * gates();
    A* kept = quantized + (rules_.quantizes_state ? s_.batch * s_.hidden : 0);
    if (saved_) kept = context.saved(*saved_).template data<A>();
    if (out.y) std::fill_n(out.y, s_.directions * rows() * s_.hidden, A(0));
    for (std::int64_t d = 0; d < s_.directions; ++d) {
      run(in, out, d, recurrent, quantized, kept_of(kept, d));
    }
    y_.finish(context, scratch);
    y_h_.finish(context, scratch);
    y_c_.finish(context, scratch);
  }

  void backward(GradContext& context) override {
    A* scratch = context.scratch_as<A>();
    const Inputs in = read(context, scratch);
    A* kept = context.saved(*saved_).template data<A>();
    const auto arriving = [&](std::size_t i) { return arriving_gradient<A>(context, i); };
    const auto wanted = [&](std::size_t i) { return zeroed_gradient<A>(context, i); };
    const Gradients gradients{.y = arriving(Out::Y),
                              .y_h = arriving(Out::Y_h),
                              .y_c = arriving(Out::Y_c),
                              .x = wanted(In::X),
                              .w = wanted(In::W),
                              .r = wanted(In::R),
                              .b = wanted(In::B),
                              .initial_h = wanted(In::initial_h),
                              .initial_c = wanted(In::initial_c),
                              .p = wanted(In::P)};
    for (std::int64_t d = 0; d < s_.directions; ++d) {
      run_back(in, gradients, d, scratch + at_, kept_of(kept, d));
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {In::X, In::W, In::R, In::B, In::sequence_lens, In::P},
            .backward_reads_outputs = {}};
  }

 private:
  // RNN and GRU have the inputs and outputs before initial_c and Y_c.
  using In = onnx::nodes::LSTM::In;
  using Out = onnx::nodes::LSTM::Out;
  static constexpr bool kRemembers = Cell<A>::kRemembers, kResets = Cell<A>::kResets;

  /// Omitted inputs are null.
  struct Inputs {
    const A *x, *w, *r, *b, *initial_h, *initial_c, *p;
    SampleLengths lengths;
  };
  struct Outputs {
    A *y, *y_h, *y_c;
  };
  /// Output gradients, and requested input gradients.
  struct Gradients {
    const A *y, *y_h, *y_c;
    A *x, *w, *r, *b, *initial_h, *initial_c, *p;
  };
  /// Values that a direction saves for backward: the sums, in the order of X's rows; steps + 1
  /// states, beginning with the initial ones; the states after the reset gates, step by step.
  struct Kept {
    A *sums, *hidden, *cells, *extra;
  };

  [[nodiscard]] std::int64_t gates() const { return Cell<A>::kGates * s_.hidden; }
  [[nodiscard]] std::int64_t rows() const { return s_.steps * s_.batch; }
  [[nodiscard]] std::int64_t states() const { return (s_.steps + 1) * s_.batch * s_.hidden; }
  [[nodiscard]] std::int64_t direction_size() const {
    return rows() * gates() + states() * (kRemembers ? 2 : 1) + (kResets ? rows() * s_.hidden : 0);
  }
  [[nodiscard]] Kept kept_of(A* all, std::int64_t d) const {
    A* sums = all + d * direction_size();
    A* hidden = sums + rows() * gates();
    A* behind = hidden + states();
    return {sums, hidden, kRemembers ? behind : nullptr, kResets ? behind : nullptr};
  }
  /// Number of gates whose part of R is multiplied by the state itself.
  [[nodiscard]] std::int64_t direct_gates() const {
    return kResets && !rules_.linear_before_reset ? 2 * s_.hidden : gates();
  }

  template <class Context>
  [[nodiscard]] Inputs read(const Context& context, A* scratch) const {
    const Tensor* lengths =
        context.has_input(In::sequence_lens) ? &context.input(In::sequence_lens) : nullptr;
    return {x_.read(context, scratch),         w_.read(context, scratch),
            r_.read(context, scratch),         b_.read(context, scratch),
            initial_h_.read(context, scratch), initial_c_.read(context, scratch),
            p_.read(context, scratch),         s_.lengths(lengths, context.node())};
  }

  /// The part of `all` for direction `d`, of `size` elements; null if `all` is null.
  template <class U>
  static U* part(U* all, std::int64_t d, std::int64_t size) {
    return all ? all + d * size : nullptr;
  }
  [[nodiscard]] Cell<A> cell_of(const Inputs& in, std::int64_t d) const {
    const std::size_t functions = rules_.activations.size() / std::size_t(s_.directions);
    return {{.rules = rules_,
             .hidden = s_.hidden,
             .functions = &rules_.activations[functions * std::size_t(d)],
             .bias = part(in.b, d, 2 * gates()),
             .peepholes = part(in.p, d, 3 * s_.hidden)}};
  }
  [[nodiscard]] CellStep<A> step_of(const Kept& kept, std::int64_t s, std::int64_t b,
                                    std::int64_t t, const A* recurrent) const {
    const std::int64_t h = s_.hidden, now = (s * s_.batch + b) * h, next = now + s_.batch * h;
    return {.sums = kept.sums + s_.row(t, b) * gates(),
            .recurrent = recurrent,
            .h = kept.hidden + now,
            .c = part(kept.cells, 1, now),
            .next_h = kept.hidden + next,
            .next_c = part(kept.cells, 1, next),
            .extra = part(kept.extra, 1, now)};
  }

  /// Copies the states of direction `d` from a tensor of all directions, sample by sample; zeros
  /// without a tensor.
  void load_states(const A* states, std::int64_t d, A* to) const {
    for (std::int64_t b = 0; b < s_.batch; ++b, to += s_.hidden) {
      if (states) {
        std::copy_n(states + s_.state_offset(d, b), s_.hidden, to);
      } else {
        std::fill_n(to, s_.hidden, A(0));
      }
    }
  }
  /// The reverse copy; does nothing without a tensor.
  void store_states(const A* from, std::int64_t d, A* states) const {
    for (std::int64_t b = 0; states && b < s_.batch; ++b, from += s_.hidden) {
      std::copy_n(from, s_.hidden, states + s_.state_offset(d, b));
    }
  }

  /// Calls `f(b, t)` for the samples with a step `s`, in parallel.
  template <class F>
  void for_each_sample(const Inputs& in, std::int64_t d, std::int64_t s, F&& f) const {
    constexpr std::int64_t kLeast = 2048;  // elements of gates, with an exponential each
    parallel_for_each(s_.batch, gates(), kLeast, [&](std::int64_t b) {
      if (s < in.lengths[b]) f(b, s_.time_of(d, s, in.lengths[b]));
    });
  }

  void run(const Inputs& in, const Outputs& out, std::int64_t d, A* recurrent, A* quantized,
           const Kept& kept) const {
    const std::int64_t h = s_.hidden, g = gates(), state = s_.batch * h;
    if (state == 0) return;  // for any number of steps
    const A* r = part(in.r, d, g * h);
    const Cell<A> cell = cell_of(in, d);
    matrix_product<A>({in.x, rows(), s_.inputs, s_.inputs},
                      {part(in.w, d, g * s_.inputs), s_.inputs, g, s_.inputs, true},
                      {kept.sums, rows(), g, g});
    load_states(in.initial_h, d, kept.hidden);
    if (kRemembers) load_states(in.initial_c, d, kept.cells);
    const std::int64_t direct = direct_gates();
    for (std::int64_t s = 0; s < s_.steps; ++s) {
      const std::int64_t now = s * state;
      // Samples that have ended keep their state.
      std::copy_n(kept.hidden + now, state, kept.hidden + now + state);
      if (kRemembers) std::copy_n(kept.cells + now, state, kept.cells + now + state);
      const A* states = kept.hidden + now;
      if (rules_.quantizes_state) states = dynamically_quantized(states, state, quantized);
      matrix_product<A>({states, s_.batch, h, h}, {r, h, direct, h, true},
                        {recurrent, s_.batch, direct, g});
      if constexpr (kResets) {
        std::fill_n(kept.extra + now, state, A(0));
        for_each_sample(in, d, s, [&](std::int64_t b, std::int64_t t) {
          cell.reset(step_of(kept, s, b, t, recurrent + b * g));
        });
        matrix_product<A>({kept.extra + now, s_.batch, h, h},
                          {r + direct * h, h, g - direct, h, true},
                          {recurrent + direct, s_.batch, g - direct, g});
      }
      for_each_sample(in, d, s, [&](std::int64_t b, std::int64_t t) {
        const CellStep<A> step = step_of(kept, s, b, t, recurrent + b * g);
        cell.forward(step);
        if (out.y) std::copy_n(step.next_h, h, out.y + s_.output_offset(t, d, b));
      });
    }
    store_states(kept.hidden + s_.steps * state, d, out.y_h);
    if (kRemembers) store_states(kept.cells + s_.steps * state, d, out.y_c);
  }

  void run_back(const Inputs& in, const Gradients& to, std::int64_t d, A* scratch,
                const Kept& kept) const {
    const std::int64_t h = s_.hidden, g = gates(), state = s_.batch * h, direct = direct_gates();
    if (state == 0) return;
    A* by_step = scratch;              // gradients of R h, by step
    A* by_row = by_step + rows() * g;  // gradients of W x, in the order of X's rows
    A* dh = by_row + rows() * g;       // gradient of the state after the present step
    A *dc = dh + state, *through_r = dc + state;
    std::fill_n(scratch, 2 * rows() * g, A(0));
    load_states(to.y_h, d, dh);
    load_states(to.y_c, d, dc);
    const A* r = part(in.r, d, g * h);
    const Cell<A> cell = cell_of(in, d);
    for (std::int64_t s = s_.steps - 1; s >= 0; --s) {
      A* recurrent = by_step + s * s_.batch * g;
      const auto gradients_of = [&](std::int64_t b, std::int64_t t) {
        return CellGradients<A>{.h = dh + b * h,
                                .c = dc + b * h,
                                .sums = by_row + s_.row(t, b) * g,
                                .recurrent = recurrent + b * g};
      };
      for_each_sample(in, d, s, [&](std::int64_t b, std::int64_t t) {
        const A* dy = to.y ? to.y + s_.output_offset(t, d, b) : nullptr;
        for (std::int64_t j = 0; dy && j < h; ++j) dh[b * h + j] += dy[j];
        cell.backward(step_of(kept, s, b, t, nullptr), gradients_of(b, t));
      });
      if constexpr (kResets) {
        matrix_product<A>({recurrent + direct, s_.batch, g - direct, g},
                          {r + direct * h, g - direct, h, h}, {through_r, s_.batch, h, h});
        for_each_sample(in, d, s, [&](std::int64_t b, std::int64_t t) {
          cell.reset_back(step_of(kept, s, b, t, nullptr), gradients_of(b, t), through_r + b * h);
        });
      }
      // Zero for samples without this step.
      matrix_product<A>({recurrent, s_.batch, direct, g}, {r, direct, h, h}, {dh, s_.batch, h, h},
                        A(1), A(1));
    }
    store_states(dh, d, to.initial_h);
    store_states(dc, d, to.initial_c);
    if (to.x) {
      matrix_product<A>({by_row, rows(), g, g},
                        {part(in.w, d, g * s_.inputs), g, s_.inputs, s_.inputs},
                        {to.x, rows(), s_.inputs, s_.inputs}, A(1), A(1));
    }
    if (A* dw = part(to.w, d, g * s_.inputs)) {
      matrix_product<A>({by_row, g, rows(), g, true}, {in.x, rows(), s_.inputs, s_.inputs},
                        {dw, g, s_.inputs, s_.inputs});
    }
    if (A* dr = part(to.r, d, g * h)) {
      matrix_product<A>({by_step, direct, rows(), g, true}, {kept.hidden, rows(), h, h},
                        {dr, direct, h, h});
      if constexpr (kResets) {
        matrix_product<A>({by_step + direct, g - direct, rows(), g, true},
                          {kept.extra, rows(), h, h}, {dr + direct * h, g - direct, h, h});
      }
    }
    if constexpr (kRemembers) {
      A* dp = part(to.p, d, 3 * h);
      for (std::int64_t i = 0; dp && i < rows(); ++i) {
        const A* c = kept.cells + i * h;
        cell.add_peepholes(by_step + i * g, c, c + state, dp);
      }
    }
    if (A* db = part(to.b, d, 2 * g)) {
      for (std::int64_t i = 0; i < rows() * g; ++i) {
        db[i % g] += by_row[i];
        db[g + i % g] += by_step[i];
      }
    }
  }

  RecurrentLayout s_;
  const CellRules& rules_;
  InputAs<A> x_, w_, r_, b_, initial_h_, initial_c_, p_;
  OutputAs<A> y_, y_h_, y_c_;
  std::int64_t at_;                   // offset after the converted tensors in scratch
  std::optional<std::size_t> saved_;  // saved values of all directions
};

}  // namespace d5::detail
