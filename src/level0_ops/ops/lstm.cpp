// SPDX-License-Identifier: Apache-2.0
// Long short-term memory over sequences, forward and backward in time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/matrix_product.hpp"
#include "level0_ops/recurrent_activation.hpp"

namespace d5::ops {
namespace {

using In = onnx::nodes::LSTM::In;
using Out = onnx::nodes::LSTM::Out;

/// i, o, f = f(W x + R h + b [+ P c]);  g = g(W x + R h + b);  c' = f c + i g;  h' = o h(c')
///
/// The gates lie in the order i, o, f, g ("iofc"). P ("peepholes") joins i and f with c, o with c'.
///
/// Shapes: X is S x B x I, W is D x 4H x I, R is D x 4H x H, B is D x 8H, initial_h and initial_c
/// are D x B x H, P is D x 3H; Y is S x D x B x H, Y_h and Y_c are D x B x H, with D directions.
/// `layout` 1 puts the batch first: B x S x I, B x D x H, B x S x D x H.
/// A sample that is shorter than S keeps its state after its end, and its Y is zero there.
/// Source: Hochreiter and Schmidhuber, "Long Short-Term Memory" (1997); backward as
/// "backpropagation through time", for Sigmoid, Tanh, Tanh without clip and input_forget.
class Lstm final : public Operator {
 public:
  explicit Lstm(const onnx::Node& node) {
    const onnx::nodes::LSTM view(node);
    const std::string who = onnx::describe(node);
    const std::string direction = view.direction();
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
      throw ValueError(
          fmt::format("{}: direction is '{}', expected forward, reverse or bidirectional", who,
                      printable(direction)));
    }
    directions_ = direction == "bidirectional" ? 2 : 1;
    reversed_ = direction == "reverse";
    clip_ = view.clip();
    if (clip_ && !(*clip_ > 0)) {
      throw ValueError(fmt::format("{}: clip is {}, expected more than 0", who, *clip_));
    }
    couples_ = view.input_forget() != 0;
    batch_first_ = view.layout() != 0;
    hidden_size_ = view.hidden_size();
    functions_ =
        RecurrentActivation::parse(view.activations().value_or(std::vector<std::string>{}),
                                   view.activation_alpha().value_or(std::vector<float>{}),
                                   view.activation_beta().value_or(std::vector<float>{}),
                                   {"Sigmoid", "Tanh", "Tanh"}, std::size_t(3 * directions_), who);
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Sizes s = sizes(context);
    const DType dtype = context.dtype(In::X);
    const Shape state = state_shape(s);
    return {TensorDesc{dtype, batch_first_ ? Shape{s.batch, s.steps, directions_, s.hidden}
                                           : Shape{s.steps, directions_, s.batch, s.hidden}},
            TensorDesc{dtype, state}, TensorDesc{dtype, state}};
  }

  void plan(PlanContext& context) override {
    s_ = sizes(context);
    // Refuses what cannot be counted: all that is kept is less.
    (void)Shape{32, s_.steps + 1, s_.batch + 1, s_.hidden + 1}.elements();
    const std::int64_t kept = directions_ * direction_size();
    const std::size_t element = size_of(context.dtype(In::X));
    saved_ = context.save({context.dtype(In::X), {kept}});
    std::int64_t scratch = s_.batch * 4 * s_.hidden;  // one step's products with R
    if (context.mode() == Mode::inference) scratch += kept;
    // Backward: the gates' gradients twice, in two orders, and those of the state.
    if (context.mode() == Mode::training) {
      scratch = 2 * s_.steps * s_.batch * 4 * s_.hidden + 3 * s_.batch * s_.hidden;
    }
    context.request_scratch(std::size_t(scratch) * element);
  }

  void forward(OpContext& context) override {
    dispatch(RealTypes{}, context.input(In::X).dtype(), context.who(), [&]<class T>() {
      const bool training = context.mode() == Mode::training;
      T* recurrent = context.scratch_as<T>();
      T* kept = training ? context.saved(saved_).data<T>() : recurrent + s_.batch * 4 * s_.hidden;
      const Lengths lengths = sequence_lengths(context, In::sequence_lens);
      if (context.wants_output(Out::Y)) {
        Tensor& y = context.output(Out::Y);
        std::fill_n(y.data<T>(), y.elements(), T(0));
      }
      for (std::int64_t d = 0; d < directions_; ++d) {
        run(context, d, lengths, recurrent, kept_of(kept, d));
      }
    });
  }

  void backward(GradContext& context) override {
    check_has_gradient(context);
    dispatch(RealTypes{}, context.input(In::X).dtype(), context.who(), [&]<class T>() {
      const Lengths lengths = sequence_lengths(context, In::sequence_lens);
      for (std::int64_t d = 0; d < directions_; ++d) {
        run_back(context, d, lengths, kept_of(context.saved(saved_).data<T>(), d));
      }
    });
  }

  bool differentiable(std::size_t input) const override { return input != In::sequence_lens; }
  bool backward_needs_input(std::size_t input) const override {
    return input != In::B && input != In::initial_h && input != In::initial_c;
  }
  bool backward_needs_output(std::size_t) const override { return false; }

  Cost cost(const InferContext& context) const override {
    const Sizes s = sizes(context);
    Cost cost = Operator::cost(context);
    cost.flop = 2.0 * double(directions_) * double(s.steps) * double(s.batch) * 4 *
                double(s.hidden) * double(s.inputs + s.hidden);
    return cost;
  }

 private:
  struct Sizes {
    std::int64_t steps = 0, batch = 0, inputs = 0, hidden = 0;
  };
  using Lengths = std::vector<std::int64_t>;

  /// What one direction keeps of its run: the gates, in the order of X's rows; cells and hidden
  /// states, steps + 1 of them, the first being the initial ones.
  template <class T>
  struct Kept {
    T *gates, *cells, *hidden;
  };

  Shape state_shape(const Sizes& s) const {
    return batch_first_ ? Shape{s.batch, directions_, s.hidden}
                        : Shape{directions_, s.batch, s.hidden};
  }

  Sizes sizes(const InferContext& context) const {
    const Shape &x = context.shape(In::X), &r = context.shape(In::R);
    if (x.rank() != 3 || r.rank() != 3) {
      throw ShapeError(fmt::format("{}: X is {} and R is {}, expected three dimensions each",
                                   context.who(), to_string(x), to_string(r)));
    }
    const Sizes s{x[batch_first_ ? 1 : 0], x[batch_first_ ? 0 : 1], x[2], r[2]};
    if (hidden_size_ && *hidden_size_ != s.hidden) {
      throw ShapeError(fmt::format("{}: hidden_size is {}, but R is {}", context.who(),
                                   *hidden_size_, to_string(r)));
    }
    const auto check = [&](std::size_t i, std::string_view name, const Shape& expected) {
      if (!context.has_input(i)) return;
      if (context.shape(i) != expected) {
        throw ShapeError(fmt::format("{}: {} is {}, expected {}", context.who(), name,
                                     to_string(context.shape(i)), to_string(expected)));
      }
      if (i != In::sequence_lens && context.dtype(i) != context.dtype(In::X)) {
        throw TypeError(fmt::format("{}: {} is {}, but X is {}", context.who(), name,
                                    name_of(context.dtype(i)), name_of(context.dtype(In::X))));
      }
    };
    check(In::W, "W", {directions_, 4 * s.hidden, s.inputs});
    check(In::R, "R", {directions_, 4 * s.hidden, s.hidden});
    check(In::B, "B", {directions_, 8 * s.hidden});
    check(In::sequence_lens, "sequence_lens", {s.batch});
    check(In::initial_h, "initial_h", state_shape(s));
    check(In::initial_c, "initial_c", state_shape(s));
    check(In::P, "P", {directions_, 3 * s.hidden});
    return s;
  }

  template <class Context>
  Lengths sequence_lengths(const Context& context, std::size_t input) const {
    Lengths lengths(std::size_t(s_.batch), s_.steps);
    if (!context.has_input(input)) return lengths;
    const auto given = context.input(input).template span<std::int32_t>();
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      if (given[b] < 0 || given[b] > s_.steps) {
        throw ValueError(fmt::format("{}: sequence_lens[{}] is {}, expected 0 to {}", context.who(),
                                     b, given[b], s_.steps));
      }
      lengths[b] = given[b];
    }
    return lengths;
  }

  std::int64_t direction_size() const {
    return s_.steps * s_.batch * 4 * s_.hidden + 2 * (s_.steps + 1) * s_.batch * s_.hidden;
  }
  template <class T>
  Kept<T> kept_of(T* all, std::int64_t d) const {
    T* gates = all + d * direction_size();
    T* cells = gates + s_.steps * s_.batch * 4 * s_.hidden;
    return {gates, cells, cells + (s_.steps + 1) * s_.batch * s_.hidden};
  }

  /// The time that a direction looks at in its step `s`.
  std::int64_t time_of(std::int64_t d, std::int64_t s, std::int64_t length) const {
    return reversed_ || d == 1 ? length - 1 - s : s;
  }
  /// Rows of X, and offsets in Y, Y_h and Y_c.
  std::int64_t row(std::int64_t t, std::int64_t b) const {
    return batch_first_ ? b * s_.steps + t : t * s_.batch + b;
  }
  std::int64_t output_offset(std::int64_t t, std::int64_t d, std::int64_t b) const {
    return (batch_first_ ? (b * s_.steps + t) * directions_ + d
                         : (t * directions_ + d) * s_.batch + b) *
           s_.hidden;
  }
  std::int64_t state_offset(std::int64_t d, std::int64_t b) const {
    return (batch_first_ ? b * directions_ + d : d * s_.batch + b) * s_.hidden;
  }

  template <class T>
  void run(OpContext& context, std::int64_t d, const Lengths& lengths, T* recurrent, Kept<T> kept) {
    const std::int64_t h = s_.hidden, gates = 4 * h, rows = s_.steps * s_.batch;
    const T* w = context.input(In::W).data<T>() + d * gates * s_.inputs;
    const T* r = context.input(In::R).data<T>() + d * gates * h;
    matrix_product<T>({context.input(In::X).data<T>(), rows, s_.inputs, s_.inputs},
                      {w, s_.inputs, gates, s_.inputs, true}, {kept.gates, rows, gates, gates});
    for (std::int64_t b = 0; b < s_.batch; ++b) {
      load_state(context, In::initial_h, d, b, kept.hidden + b * h);
      load_state(context, In::initial_c, d, b, kept.cells + b * h);
    }
    for (std::int64_t s = 0; s < s_.steps; ++s) {
      const std::int64_t now = s * s_.batch * h, next = now + s_.batch * h;
      matrix_product<T>({kept.hidden + now, s_.batch, h, h}, {r, h, gates, h, true},
                        {recurrent, s_.batch, gates, gates});
      for (std::int64_t b = 0; b < s_.batch; ++b) {
        const T* c = kept.cells + now + b * h;
        T* next_c = kept.cells + next + b * h;
        T* next_h = kept.hidden + next + b * h;
        if (s >= lengths[std::size_t(b)]) {
          std::copy_n(c, h, next_c);
          std::copy_n(kept.hidden + now + b * h, h, next_h);
          continue;
        }
        const std::int64_t t = time_of(d, s, lengths[std::size_t(b)]);
        T* gate = kept.gates + row(t, b) * gates;
        for (std::int64_t j = 0; j < gates; ++j) gate[j] += recurrent[b * gates + j];
        cell(context, d, gate, c, next_c, next_h);
        if (context.wants_output(Out::Y)) {
          std::copy_n(next_h, h, context.output(Out::Y).data<T>() + output_offset(t, d, b));
        }
      }
    }
    const std::int64_t last = s_.steps * s_.batch * h;
    for (std::int64_t b = 0; b < s_.batch; ++b) {
      store_state(context, Out::Y_h, d, b, kept.hidden + last + b * h);
      store_state(context, Out::Y_c, d, b, kept.cells + last + b * h);
    }
  }

  /// One sample, one step. `gate` holds W x + R h, and then the activated gates.
  template <class T>
  void cell(const OpContext& context, std::int64_t d, T* gate, const T* c, T* next_c,
            T* next_h) const {
    const std::int64_t h = s_.hidden;
    const T* bias = context.has_input(In::B) ? context.input(In::B).data<T>() + d * 8 * h : nullptr;
    const T* p = context.has_input(In::P) ? context.input(In::P).data<T>() + d * 3 * h : nullptr;
    const RecurrentActivation* f = &functions_[std::size_t(3 * d)];
    const auto input_of = [&](std::int64_t j, T more) {
      const T sum = gate[j] + (bias ? bias[j] + bias[4 * h + j] : T(0)) + more;
      return clip_ ? std::clamp(sum, T(-*clip_), T(*clip_)) : sum;
    };
    for (std::int64_t j = 0; j < h; ++j) {
      const T i = f[0](input_of(j, p ? p[j] * c[j] : T(0)));
      const T forget =
          couples_ ? T(1) - i : f[0](input_of(2 * h + j, p ? p[2 * h + j] * c[j] : T(0)));
      const T g = f[1](input_of(3 * h + j, T(0)));
      next_c[j] = forget * c[j] + i * g;
      const T o = f[0](input_of(h + j, p ? p[h + j] * next_c[j] : T(0)));
      next_h[j] = o * f[2](next_c[j]);
      gate[j] = i;
      gate[h + j] = o;
      gate[2 * h + j] = forget;
      gate[3 * h + j] = g;
    }
  }

  template <class T>
  void load_state(const OpContext& context, std::size_t input, std::int64_t d, std::int64_t b,
                  T* to) const {
    if (context.has_input(input)) {
      std::copy_n(context.input(input).data<T>() + state_offset(d, b), s_.hidden, to);
    } else {
      std::fill_n(to, s_.hidden, T(0));
    }
  }
  template <class T>
  void store_state(OpContext& context, std::size_t output, std::int64_t d, std::int64_t b,
                   const T* from) const {
    if (!context.wants_output(output)) return;
    std::copy_n(from, s_.hidden, context.output(output).data<T>() + state_offset(d, b));
  }

  void check_has_gradient(const GradContext& context) const {
    using Kind = RecurrentActivation::Kind;
    constexpr std::array<Kind, 3> kStandard{Kind::sigmoid, Kind::tanh, Kind::tanh};
    bool standard = !clip_ && !couples_;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      standard = standard && functions_[i].kind() == kStandard[i % 3];
    }
    if (standard) return;
    throw Unsupported(fmt::format(
        "{} has a gradient only with activations Sigmoid, Tanh, Tanh and without clip and "
        "input_forget",
        context.who()));
  }

  template <class T>
  void run_back(GradContext& context, std::int64_t d, const Lengths& lengths, Kept<T> kept) const {
    const std::int64_t h = s_.hidden, gates = 4 * h, rows = s_.steps * s_.batch;
    T* by_step = context.scratch_as<T>();  // gradients of the gates' inputs, by step
    T* by_row = by_step + rows * gates;    // the same in the order of X's rows
    T* dh = by_row + rows * gates;         // of the state after the step at hand
    T* dc = dh + s_.batch * h;
    T* before = dc + s_.batch * h;
    std::fill_n(by_step, rows * gates, T(0));
    std::fill_n(by_row, rows * gates, T(0));
    for (std::int64_t b = 0; b < s_.batch; ++b) {
      load_gradient(context, Out::Y_h, d, b, dh + b * h);
      load_gradient(context, Out::Y_c, d, b, dc + b * h);
    }
    T* dp = context.wants_grad(In::P) ? context.grad_input(In::P).data<T>() + d * 3 * h : nullptr;
    if (dp) std::fill_n(dp, 3 * h, T(0));
    const T* p = context.has_input(In::P) ? context.input(In::P).data<T>() + d * 3 * h : nullptr;
    const T* r = context.input(In::R).data<T>() + d * gates * h;

    for (std::int64_t s = s_.steps - 1; s >= 0; --s) {
      T* dgates = by_step + s * s_.batch * gates;
      for (std::int64_t b = 0; b < s_.batch; ++b) {
        if (s >= lengths[std::size_t(b)]) continue;
        const std::int64_t t = time_of(d, s, lengths[std::size_t(b)]);
        if (context.has_grad_output(Out::Y)) {
          const T* dy = context.grad_output(Out::Y).data<T>() + output_offset(t, d, b);
          for (std::int64_t j = 0; j < h; ++j) dh[b * h + j] += dy[j];
        }
        const std::int64_t now = (s * s_.batch + b) * h, next = now + s_.batch * h;
        cell_back(kept.gates + row(t, b) * gates, kept.cells + now, kept.cells + next, p,
                  dh + b * h, dc + b * h, dgates + b * gates, dp);
        std::copy_n(dgates + b * gates, gates, by_row + row(t, b) * gates);
      }
      matrix_product<T>({dgates, s_.batch, gates, gates}, {r, gates, h, h},
                        {before, s_.batch, h, h});
      for (std::int64_t b = 0; b < s_.batch; ++b) {
        if (s < lengths[std::size_t(b)]) std::copy_n(before + b * h, h, dh + b * h);
      }
    }

    store_gradient(context, In::initial_h, d, dh);
    store_gradient(context, In::initial_c, d, dc);
    if (context.wants_grad(In::X)) {
      const T* w = context.input(In::W).data<T>() + d * gates * s_.inputs;
      matrix_product<T>({by_row, rows, gates, gates}, {w, gates, s_.inputs, s_.inputs},
                        {context.grad_input(In::X).data<T>(), rows, s_.inputs, s_.inputs}, T(1),
                        d == 0 ? T(0) : T(1));
    }
    if (context.wants_grad(In::W)) {
      matrix_product<T>({by_row, gates, rows, gates, true},
                        {context.input(In::X).data<T>(), rows, s_.inputs, s_.inputs},
                        {context.grad_input(In::W).data<T>() + d * gates * s_.inputs, gates,
                         s_.inputs, s_.inputs});
    }
    if (context.wants_grad(In::R)) {
      matrix_product<T>({by_step, gates, rows, gates, true}, {kept.hidden, rows, h, h},
                        {context.grad_input(In::R).data<T>() + d * gates * h, gates, h, h});
    }
    if (context.wants_grad(In::B)) {
      T* db = context.grad_input(In::B).data<T>() + d * 8 * h;
      std::fill_n(db, gates, T(0));
      for (std::int64_t i = 0; i < rows * gates; ++i) db[i % gates] += by_step[i];
      std::copy_n(db, gates, db + gates);  // W's and R's biases are added to the same sum
    }
  }

  /// One sample, one step: from dh and dc after it to the gates' inputs and dc before it.
  template <class T>
  void cell_back(const T* gate, const T* c, const T* next_c, const T* p, const T* dh, T* dc,
                 T* dgate, T* dp) const {
    const std::int64_t h = s_.hidden;
    for (std::int64_t j = 0; j < h; ++j) {
      const T i = gate[j], o = gate[h + j], f = gate[2 * h + j], g = gate[3 * h + j];
      const T squashed = std::tanh(next_c[j]);
      const T d_o = dh[j] * squashed * o * (T(1) - o);
      T d_c = dc[j] + dh[j] * o * (T(1) - squashed * squashed);
      if (p) d_c += d_o * p[h + j];
      const T d_i = d_c * g * i * (T(1) - i);
      const T d_f = d_c * c[j] * f * (T(1) - f);
      dc[j] = d_c * f;
      if (p) dc[j] += d_i * p[j] + d_f * p[2 * h + j];
      if (dp) {
        dp[j] += d_i * c[j];
        dp[h + j] += d_o * next_c[j];
        dp[2 * h + j] += d_f * c[j];
      }
      dgate[j] = d_i;
      dgate[h + j] = d_o;
      dgate[2 * h + j] = d_f;
      dgate[3 * h + j] = d_c * i * (T(1) - g * g);
    }
  }

  template <class T>
  void load_gradient(const GradContext& context, std::size_t output, std::int64_t d, std::int64_t b,
                     T* to) const {
    if (context.has_grad_output(output)) {
      std::copy_n(context.grad_output(output).data<T>() + state_offset(d, b), s_.hidden, to);
    } else {
      std::fill_n(to, s_.hidden, T(0));
    }
  }
  template <class T>
  void store_gradient(GradContext& context, std::size_t input, std::int64_t d,
                      const T* from) const {
    if (!context.wants_grad(input)) return;
    T* to = context.grad_input(input).data<T>();
    for (std::int64_t b = 0; b < s_.batch; ++b) {
      std::copy_n(from + b * s_.hidden, s_.hidden, to + state_offset(d, b));
    }
  }

  std::int64_t directions_ = 1;
  bool reversed_ = false, couples_ = false, batch_first_ = false;
  std::optional<float> clip_;
  std::optional<std::int64_t> hidden_size_;
  std::vector<RecurrentActivation> functions_;
  // Of the plan:
  Sizes s_;
  std::size_t saved_ = 0;
};

}  // namespace

void register_lstm(OperatorRegistry& registry) { registry.add<Lstm>("LSTM"); }

}  // namespace d5::ops
