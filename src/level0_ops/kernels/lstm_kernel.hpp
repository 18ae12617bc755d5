// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "d5/level0_ops/kernel.hpp"
#include "d5/level0_ops/plan_context.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/lstm_cell.hpp"
#include "level0_ops/kernels/lstm_layout.hpp"
#include "level0_ops/kernels/matrix_product.hpp"
#include "level0_ops/kernels/recurrent_activation.hpp"

namespace d5::detail {

/// What the attributes say of the cell.
struct LstmFunctions {
  std::vector<RecurrentActivation> activations;  ///< f, g, h of each direction
  std::optional<float> clip;
  bool couples = false;
};

/// The cell is LstmCell, the shapes are LstmLayout's.
///
/// A sample that is shorter than S keeps its state after its end, and its Y is zero there.
/// Backward is "backpropagation through time", for Sigmoid, Tanh, Tanh without clip and
/// input_forget.
template <class T>
class LstmKernel final : public Kernel {
 public:
  /// `functions` outlives the kernel.
  LstmKernel(const LstmLayout& layout, const LstmFunctions& functions, PlanContext& context)
      : s_(layout), functions_(functions) {
    // Refuses what cannot be counted: all that is kept is less.
    (void)Shape{32, s_.steps + 1, s_.batch + 1, s_.hidden + 1}.elements();
    const std::int64_t kept = s_.directions * direction_size();
    std::int64_t scratch = s_.batch * 4 * s_.hidden;  // one step's products with R
    if (context.wants_backward()) {
      saved_ = context.save({context.dtype(In::X), {kept}});
      // Backward: the gates' gradients twice, in two orders, and those of the state.
      scratch =
          std::max(scratch, 2 * s_.steps * s_.batch * 4 * s_.hidden + 3 * s_.batch * s_.hidden);
    } else {
      scratch += kept;
    }
    context.request_scratch(std::size_t(scratch) * sizeof(T));
  }

  void forward(OpContext& context) override {
    T* recurrent = context.scratch_as<T>();
    T* kept =
        saved_ ? context.saved(*saved_).template data<T>() : recurrent + s_.batch * 4 * s_.hidden;
    const SampleLengths lengths = s_.lengths(given(context, In::sequence_lens), context.node());
    if (context.wants_output(Out::Y)) {
      Tensor& y = context.output(Out::Y);
      std::fill_n(y.data<T>(), y.elements(), T(0));
    }
    for (std::int64_t d = 0; d < s_.directions; ++d) {
      run(context, d, lengths, recurrent, kept_of(kept, d));
    }
  }

  void backward(GradContext& context) override {
    const SampleLengths lengths = s_.lengths(given(context, In::sequence_lens), context.node());
    T* kept = context.saved(*saved_).template data<T>();
    for (std::int64_t d = 0; d < s_.directions; ++d) {
      run_back(context, d, lengths, kept_of(kept, d));
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {In::X, In::W, In::R, In::sequence_lens, In::P},
            .backward_reads_outputs = {}};
  }

 private:
  using In = onnx::nodes::LSTM::In;
  using Out = onnx::nodes::LSTM::Out;

  /// What one direction keeps of its run: the gates, in the order of X's rows; cells and hidden
  /// states, steps + 1 of them, the first being the initial ones.
  struct Kept {
    T *gates, *cells, *hidden;
  };

  std::int64_t direction_size() const {
    return s_.steps * s_.batch * 4 * s_.hidden + 2 * (s_.steps + 1) * s_.batch * s_.hidden;
  }
  Kept kept_of(T* all, std::int64_t d) const {
    T* gates = all + d * direction_size();
    T* cells = gates + s_.steps * s_.batch * 4 * s_.hidden;
    return {gates, cells, cells + (s_.steps + 1) * s_.batch * s_.hidden};
  }

  /// Null for an input that is left out.
  template <class Context>
  static const Tensor* given(const Context& context, std::size_t i) {
    return context.has_input(i) ? &context.input(i) : nullptr;
  }
  /// The part of W, R, B, P or their gradients that belongs to direction `d`; null if there is
  /// none.
  static const T* part(const Tensor* all, std::int64_t d) {
    return all ? all->data<T>() + d * all->shape().elements(1, all->shape().rank()) : nullptr;
  }
  static T* part(Tensor* all, std::int64_t d) {
    return const_cast<T*>(part(static_cast<const Tensor*>(all), d));
  }

  LstmCell<T> cell_of(std::int64_t d, const T* bias, const T* peepholes) const {
    return {.hidden = s_.hidden,
            .functions = &functions_.activations[std::size_t(3 * d)],
            .bias = bias,
            .peepholes = peepholes,
            .clip = functions_.clip,
            .couples = functions_.couples};
  }

  /// From a tensor with the states of all directions to those of `d`, sample by sample. Zeros where
  /// there is none.
  void load_states(const Tensor* states, std::int64_t d, T* to) const {
    for (std::int64_t b = 0; b < s_.batch; ++b, to += s_.hidden) {
      if (states) {
        std::copy_n(states->data<T>() + s_.state_offset(d, b), s_.hidden, to);
      } else {
        std::fill_n(to, s_.hidden, T(0));
      }
    }
  }
  /// The other way; nothing where there is no tensor.
  void store_states(const T* from, std::int64_t d, Tensor* states) const {
    if (!states) return;
    for (std::int64_t b = 0; b < s_.batch; ++b, from += s_.hidden) {
      std::copy_n(from, s_.hidden, states->data<T>() + s_.state_offset(d, b));
    }
  }

  void run(OpContext& context, std::int64_t d, SampleLengths lengths, T* recurrent, Kept kept) {
    const std::int64_t h = s_.hidden, gates = 4 * h, rows = s_.steps * s_.batch;
    const T* w = part(given(context, In::W), d);
    const T* r = part(given(context, In::R), d);
    const LstmCell<T> cell =
        cell_of(d, part(given(context, In::B), d), part(given(context, In::P), d));
    matrix_product<T>({context.input(In::X).data<T>(), rows, s_.inputs, s_.inputs},
                      {w, s_.inputs, gates, s_.inputs, true}, {kept.gates, rows, gates, gates});
    load_states(given(context, In::initial_h), d, kept.hidden);
    load_states(given(context, In::initial_c), d, kept.cells);
    for (std::int64_t s = 0; s < s_.steps; ++s) {
      const std::int64_t now = s * s_.batch * h, next = now + s_.batch * h;
      matrix_product<T>({kept.hidden + now, s_.batch, h, h}, {r, h, gates, h, true},
                        {recurrent, s_.batch, gates, gates});
      for (std::int64_t b = 0; b < s_.batch; ++b) {
        const T* c = kept.cells + now + b * h;
        T* next_c = kept.cells + next + b * h;
        T* next_h = kept.hidden + next + b * h;
        if (s >= lengths[b]) {
          std::copy_n(c, h, next_c);
          std::copy_n(kept.hidden + now + b * h, h, next_h);
          continue;
        }
        const std::int64_t t = s_.time_of(d, s, lengths[b]);
        T* gate = kept.gates + s_.row(t, b) * gates;
        for (std::int64_t j = 0; j < gates; ++j) gate[j] += recurrent[b * gates + j];
        cell.forward(gate, c, next_c, next_h);
        if (context.wants_output(Out::Y)) {
          std::copy_n(next_h, h, context.output(Out::Y).data<T>() + s_.output_offset(t, d, b));
        }
      }
    }
    const std::int64_t last = s_.steps * s_.batch * h;
    const auto wanted = [&](std::size_t i) {
      return context.wants_output(i) ? &context.output(i) : nullptr;
    };
    store_states(kept.hidden + last, d, wanted(Out::Y_h));
    store_states(kept.cells + last, d, wanted(Out::Y_c));
  }

  void run_back(GradContext& context, std::int64_t d, SampleLengths lengths, Kept kept) const {
    const std::int64_t h = s_.hidden, gates = 4 * h, rows = s_.steps * s_.batch;
    T* by_step = context.scratch_as<T>();  // gradients of the gates' inputs, by step
    T* by_row = by_step + rows * gates;    // the same in the order of X's rows
    T* dh = by_row + rows * gates;         // of the state after the step at hand
    T* dc = dh + s_.batch * h;
    T* before = dc + s_.batch * h;
    std::fill_n(by_step, rows * gates, T(0));
    std::fill_n(by_row, rows * gates, T(0));
    const auto arriving = [&](std::size_t i) {
      return context.has_grad_output(i) ? &context.grad_output(i) : nullptr;
    };
    const auto wanted = [&](std::size_t i) {
      return context.wants_grad(i) ? &context.grad_input(i) : nullptr;
    };
    load_states(arriving(Out::Y_h), d, dh);
    load_states(arriving(Out::Y_c), d, dc);
    T* dp = part(wanted(In::P), d);
    if (dp) std::fill_n(dp, 3 * h, T(0));
    const T* r = part(given(context, In::R), d);
    const LstmCell<T> cell = cell_of(d, /*bias=*/nullptr, part(given(context, In::P), d));

    for (std::int64_t s = s_.steps - 1; s >= 0; --s) {
      T* dgates = by_step + s * s_.batch * gates;
      for (std::int64_t b = 0; b < s_.batch; ++b) {
        if (s >= lengths[b]) continue;
        const std::int64_t t = s_.time_of(d, s, lengths[b]);
        if (context.has_grad_output(Out::Y)) {
          const T* dy = context.grad_output(Out::Y).data<T>() + s_.output_offset(t, d, b);
          for (std::int64_t j = 0; j < h; ++j) dh[b * h + j] += dy[j];
        }
        const std::int64_t now = (s * s_.batch + b) * h, next = now + s_.batch * h;
        cell.backward(kept.gates + s_.row(t, b) * gates, kept.cells + now, kept.cells + next,
                      dh + b * h, dc + b * h, dgates + b * gates, dp);
        std::copy_n(dgates + b * gates, gates, by_row + s_.row(t, b) * gates);
      }
      matrix_product<T>({dgates, s_.batch, gates, gates}, {r, gates, h, h},
                        {before, s_.batch, h, h});
      for (std::int64_t b = 0; b < s_.batch; ++b) {
        if (s < lengths[b]) std::copy_n(before + b * h, h, dh + b * h);
      }
    }

    store_states(dh, d, wanted(In::initial_h));
    store_states(dc, d, wanted(In::initial_c));
    if (context.wants_grad(In::X)) {
      const T* w = part(given(context, In::W), d);
      matrix_product<T>({by_row, rows, gates, gates}, {w, gates, s_.inputs, s_.inputs},
                        {context.grad_input(In::X).data<T>(), rows, s_.inputs, s_.inputs}, T(1),
                        d == 0 ? T(0) : T(1));
    }
    if (T* dw = part(wanted(In::W), d)) {
      matrix_product<T>({by_row, gates, rows, gates, true},
                        {context.input(In::X).data<T>(), rows, s_.inputs, s_.inputs},
                        {dw, gates, s_.inputs, s_.inputs});
    }
    if (T* dr = part(wanted(In::R), d)) {
      matrix_product<T>({by_step, gates, rows, gates, true}, {kept.hidden, rows, h, h},
                        {dr, gates, h, h});
    }
    if (T* db = part(wanted(In::B), d)) {
      std::fill_n(db, gates, T(0));
      for (std::int64_t i = 0; i < rows * gates; ++i) db[i % gates] += by_step[i];
      std::copy_n(db, gates, db + gates);  // W's and R's biases are added to the same sum
    }
  }

  LstmLayout s_;
  const LstmFunctions& functions_;
  std::optional<std::size_t> saved_;  // what all directions keep
};

}  // namespace d5::detail
