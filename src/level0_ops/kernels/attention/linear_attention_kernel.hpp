// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "d5/level0_ops/operator/plan_context.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/arithmetic_copy.hpp"
#include "level0_ops/kernels/expected_shape.hpp"
#include "level0_ops/kernels/gradient_memory.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::detail {

/// Shapes: query is B x T x (Hq D), key B x T x (Hkv D), value B x T x (Hkv Dv), output
/// B x T x (Hq Dv), the states B x Hkv x D x Dv; decay is B x T x Hkv or x (Hkv D), beta B x T x
/// Hkv or x 1. A head of keys serves Hq / Hkv consecutive heads of queries.
struct LinearAttentionSizes {
  std::int64_t batch, tokens, q_heads, kv_heads;
  std::int64_t size, value_size;       ///< size of a head: D, Dv
  std::int64_t decays = 0, betas = 0;  ///< last dimensions of decay and beta; 0: absent

  [[nodiscard]] std::int64_t group() const { return q_heads / kv_heads; }
  [[nodiscard]] Shape state_shape() const { return {batch, kv_heads, size, value_size}; }
};

/// For each token, with a state S of D x Dv for each head of keys:
///
///     S' = exp(decay) S;  u = beta (v - S'^T k), or v without beta
///     S = S' + k u^T;     o = scale S^T q
///
/// Source: Katharopoulos et al., "Transformers are RNNs" (2020); Yang et al., "Gated Delta
/// Networks" (2024).
template <class A>
class LinearAttentionKernel final : public Kernel {
 public:
  LinearAttentionKernel(const LinearAttentionSizes& sizes, A scale, PlanContext& context,
                        std::int64_t scratch = 0)
      : s_(sizes),
        scale_(scale),
        state_size_(s_.size * s_.value_size),
        query_(context, In::query, scratch),
        key_(context, In::key, scratch),
        value_(context, In::value, scratch),
        past_(context, In::past_state, scratch),
        decay_(context, In::decay, scratch),
        beta_(context, In::beta, scratch),
        output_(context, Out::output, scratch),
        present_(context, Out::present_state, scratch),
        at_(scratch) {
    std::int64_t heads = s_.batch * s_.kv_heads;
    if (context.wants_backward()) {
      step_ = state_size_;
      saved_ = context.save({dtype_of<A>, {heads, s_.tokens + 1, s_.size, s_.value_size}});
      // Per sample: the gradient of a state, a decayed state, u and its gradient.
      scratch += Shape{s_.batch, back_size()}.elements();
    } else {
      scratch += heads * state_size_;
    }
    scratch += heads * s_.value_size;  // forward's u
    context.request_scratch(std::size_t(scratch) * sizeof(A));
  }

  void forward(OpContext& context) override {
    A* scratch = context.scratch_as<A>();
    const Inputs in = read(context, scratch);
    A* states = saved_ ? context.saved(*saved_).template data<A>() : scratch + at_;
    const std::int64_t heads = s_.batch * s_.kv_heads, kept = states_of_head();
    A* u = scratch + at_ + (saved_ ? 0 : heads * state_size_);
    A* output = output_.memory(context, scratch);
    A* present = present_.memory(context, scratch);
    parallel_for_each(heads, s_.tokens * state_size_ * 4, 16384, [&](std::int64_t i) {
      A* first = states + i * kept;
      if (in.past) {
        std::copy_n(in.past + i * state_size_, state_size_, first);
      } else {
        std::fill_n(first, state_size_, A(0));
      }
      for (std::int64_t t = 0; t < s_.tokens; ++t) {
        A* state = first + (t + 1) * step_;
        const Token now = token(i, t);
        decay(in, now, first + t * step_, state);
        correct(in, now, state, u + i * s_.value_size);
        add_outer(in.key + now.key, u + i * s_.value_size, A(1), state);
        for (std::int64_t g = 0; output && g < s_.group(); ++g) {
          A* o = output + now.output + g * s_.value_size;
          std::fill_n(o, s_.value_size, A(0));
          add_transposed(state, in.query + now.query + g * s_.size, scale_, o);
        }
      }
      if (present) std::copy_n(first + s_.tokens * step_, state_size_, present + i * state_size_);
    });
    output_.finish(context, scratch);
    present_.finish(context, scratch);
  }

  void backward(GradContext& context) override {
    A* scratch = context.scratch_as<A>();
    const Inputs in = read(context, scratch);
    const A* states = context.saved(*saved_).template data<A>();
    const Gradients d = begin(context);
    // Heads may share a beta, so a sample is the smallest independent part.
    parallel_for_each(s_.batch, s_.tokens * s_.kv_heads * state_size_ * 8, 16384,
                      [&](std::int64_t b) {
                        A* memory = scratch + at_ + b * back_size();
                        for (std::int64_t h = 0; h < s_.kv_heads; ++h) {
                          const std::int64_t i = b * s_.kv_heads + h;
                          run_back(in, d, i, states + i * states_of_head(), memory);
                        }
                      });
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {In::query, In::key, In::value, In::decay, In::beta},
            .backward_reads_outputs = {}};
  }

 private:
  using In = onnx::nodes::LinearAttention::In;
  using Out = onnx::nodes::LinearAttention::Out;

  /// The last three may be null.
  struct Inputs {
    const A *query, *key, *value, *past, *decay, *beta;
  };
  /// Offsets of a head of keys for one token; for queries, of the group's first head.
  struct Token {
    std::int64_t query, key, value, output, decay, beta;
  };
  /// Output gradients, and requested input gradients; null if absent.
  struct Gradients {
    const A *output, *present;
    A *query, *key, *value, *past, *decay, *beta;
  };

  /// Number of stored elements per head of keys: all its states, or the present one.
  std::int64_t states_of_head() const { return state_size_ + s_.tokens * step_; }
  std::int64_t back_size() const { return 2 * state_size_ + 3 * s_.value_size; }

  template <class Context>
  Inputs read(const Context& context, A* scratch) const {
    return {query_.read(context, scratch), key_.read(context, scratch),
            value_.read(context, scratch), past_.read(context, scratch),
            decay_.read(context, scratch), beta_.read(context, scratch)};
  }

  Token token(std::int64_t i, std::int64_t t) const {
    const std::int64_t h = i % s_.kv_heads, row = i / s_.kv_heads * s_.tokens + t;
    const std::int64_t q = row * s_.q_heads + h * s_.group(), kv = row * s_.kv_heads + h;
    return {q * s_.size,
            kv * s_.size,
            kv * s_.value_size,
            q * s_.value_size,
            row * s_.decays + h * (s_.decays / s_.kv_heads),
            row * s_.betas + (s_.betas > 1 ? h : 0)};
  }
  /// The decay of row `i` of the state.
  std::int64_t decay_of(const Token& now, std::int64_t i) const {
    return now.decay + (s_.decays > s_.kv_heads ? i : 0);
  }

  void decay(const Inputs& in, const Token& now, const A* from, A* to) const {
    for (std::int64_t i = 0; i < s_.size; ++i) {
      const A factor = in.decay ? std::exp(in.decay[decay_of(now, i)]) : A(1);
      for (std::int64_t j = 0; j < s_.value_size; ++j) {
        to[i * s_.value_size + j] = factor * from[i * s_.value_size + j];
      }
    }
  }
  /// Computes u from the decayed state.
  void correct(const Inputs& in, const Token& now, const A* state, A* u) const {
    std::copy_n(in.value + now.value, s_.value_size, u);
    if (!in.beta) return;
    add_transposed(state, in.key + now.key, A(-1), u);
    for (std::int64_t j = 0; j < s_.value_size; ++j) u[j] *= in.beta[now.beta];
  }
  /// m += scale a b^T
  void add_outer(const A* a, const A* b, A scale, A* m) const {
    for (std::int64_t i = 0; i < s_.size; ++i) {
      for (std::int64_t j = 0; j < s_.value_size; ++j)
        m[i * s_.value_size + j] += scale * a[i] * b[j];
    }
  }
  /// y += scale m^T x
  void add_transposed(const A* m, const A* x, A scale, A* y) const {
    for (std::int64_t i = 0; i < s_.size; ++i) {
      for (std::int64_t j = 0; j < s_.value_size; ++j)
        y[j] += scale * x[i] * m[i * s_.value_size + j];
    }
  }
  /// y += scale m x, if y is wanted
  void add_product(const A* m, const A* x, A scale, A* y) const {
    for (std::int64_t i = 0; y && i < s_.size; ++i) {
      A sum = 0;
      for (std::int64_t j = 0; j < s_.value_size; ++j) sum += m[i * s_.value_size + j] * x[j];
      y[i] += scale * sum;
    }
  }

  Gradients begin(GradContext& context) const {
    const auto arriving = [&](std::size_t i) { return arriving_gradient<A>(context, i); };
    const auto wanted = [&](std::size_t i) { return zeroed_gradient<A>(context, i); };
    return {
        arriving(Out::output), arriving(Out::present_state), wanted(In::query), wanted(In::key),
        wanted(In::value),     wanted(In::past_state),       wanted(In::decay), wanted(In::beta)};
  }

  /// `states` are all states of head `i`. Shapes: `memory` has back_size() elements.
  void run_back(const Inputs& in, const Gradients& d, std::int64_t i, const A* states,
                A* memory) const {
    const auto part = [](A* all, std::int64_t at) { return all ? all + at : nullptr; };
    A *ds = memory, *decayed = ds + state_size_, *u = decayed + state_size_;
    A *du = u + s_.value_size, *dr = du + s_.value_size;
    if (d.present) {
      std::copy_n(d.present + i * state_size_, state_size_, ds);
    } else {
      std::fill_n(ds, state_size_, A(0));
    }
    for (std::int64_t t = s_.tokens - 1; t >= 0; --t) {
      const Token now = token(i, t);
      const A *k = in.key + now.key, *state = states + (t + 1) * step_;
      for (std::int64_t g = 0; d.output && g < s_.group(); ++g) {
        const A* dout = d.output + now.output + g * s_.value_size;
        add_outer(in.query + now.query + g * s_.size, dout, scale_, ds);
        add_product(state, dout, scale_, part(d.query, now.query + g * s_.size));
      }
      decay(in, now, states + t * step_, decayed);
      correct(in, now, decayed, u);
      std::fill_n(du, s_.value_size, A(0));
      add_transposed(ds, k, A(1), du);
      add_product(ds, u, A(1), part(d.key, now.key));
      // From here on, `ds` is the gradient of the decayed state.
      const A beta = in.beta ? in.beta[now.beta] : A(1);
      for (std::int64_t j = 0; d.value && j < s_.value_size; ++j)
        d.value[now.value + j] += beta * du[j];
      if (in.beta) {
        std::copy_n(in.value + now.value, s_.value_size, dr);
        add_transposed(decayed, k, A(-1), dr);  // v - r is multiplied by beta
        for (std::int64_t j = 0; d.beta && j < s_.value_size; ++j)
          d.beta[now.beta] += du[j] * dr[j];
        for (std::int64_t j = 0; j < s_.value_size; ++j) dr[j] = -beta * du[j];
        add_product(decayed, dr, A(1), part(d.key, now.key));
        add_outer(k, dr, A(1), ds);
      }
      for (std::int64_t row = 0; in.decay && row < s_.size; ++row) {
        const std::int64_t place = decay_of(now, row);
        const A factor = std::exp(in.decay[place]);
        for (std::int64_t j = row * s_.value_size; j < (row + 1) * s_.value_size; ++j) {
          if (d.decay) d.decay[place] += ds[j] * decayed[j];
          ds[j] *= factor;
        }
      }
    }
    if (d.past) std::copy_n(ds, state_size_, d.past + i * state_size_);
  }

  LinearAttentionSizes s_;
  A scale_;
  std::int64_t state_size_;
  std::int64_t step_ = 0;  // stride between a head's states; 0 if overwritten
  InputAs<A> query_, key_, value_, past_, decay_, beta_;
  OutputAs<A> output_, present_;
  std::int64_t at_;  // offset after the converted tensors in scratch
  std::optional<std::size_t> saved_;
};

}  // namespace d5::detail
