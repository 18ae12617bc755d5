// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM as layers of oneDNN's cells.
#include <algorithm>
#include <array>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "onednn_kernel.hpp"
#include "recurrent_weights.hpp"

namespace d5::onednn {
namespace {

namespace nodes = onnx::nodes;
using RecurrentIn = nodes::LSTM::In;  // RNN and GRU have those before initial_c
using Out = nodes::LSTM::Out;
using Kind = Cell::Kind;
using Names = std::vector<std::string>;
constexpr auto kFloat = dnnl::memory::data_type::f32;

Names activations_of(const PlanContext& context) {
  const auto* names = context.node().attribute<Names>("activations");
  return names ? *names : Names();
}

Cell cell_of(const PlanContext& context, Kind kind) {
  Cell cell{.kind = kind};
  const Names names = activations_of(context);
  const bool is_relu = !names.empty() && names[0] == "Relu";
  if (kind == Kind::rnn) cell.activation = is_relu ? dnnl_eltwise_relu : dnnl_eltwise_tanh;
  const std::string direction = nodes::RNN(context.node()).direction();  // an attribute of all
  if (direction == "reverse") cell.direction = dnnl_unidirectional_right2left;
  if (direction == "bidirectional") cell.direction = dnnl_bidirectional_concat;
  if (kind == Kind::gru && nodes::GRU(context.node()).linear_before_reset() != 0) {
    cell.kind = Kind::gru_reset_behind;
  }
  return cell;
}

/// Shapes: x T,N,I; w D,G H,I; r D,G H,H; b D,2 G H; states D,N,H; y T,D,N,H. `layout` 1 puts the
/// samples first in all but weights.
class Recurrent final : public OneDnnKernel {
 public:
  Recurrent(PlanContext& context, Kind kind)
      : OneDnnKernel(context),
        cell_(cell_of(context, kind)),
        samples_first_(nodes::LSTM(context.node()).layout() != 0),
        steps_(context.shape(RecurrentIn::X)[samples_first_ ? 1 : 0]),
        samples_(context.shape(RecurrentIn::X)[samples_first_ ? 0 : 1]),
        inputs_(context.shape(RecurrentIn::X)[2]),
        directions_(context.shape(RecurrentIn::W)[0]),
        hidden_(context.shape(RecurrentIn::R)[2]),
        weights_(cell_, directions_, hidden_),
        y_(place(rows({steps_, samples_, directions_ * hidden_}, kFloat))),
        h_end_(place(rows(state_dims(), kFloat))),
        c_end_(is_lstm() ? place(rows(state_dims(), kFloat)) : h_end_) {
    const std::int64_t longest = std::max(steps_ * samples_, 2 * cell_.gates());
    zeros_ = Tensor::zeros(DType::float32, {longest * directions_ * hidden_});
    const CellDescs descs = cell_descs();
    const auto forward = cell_.forward(dnnl::convert_to_c(direction()), descs);
    std::vector<Pass::Bound> writes = results();
    std::vector<Pass::Bound> behind = results();  // in the form that backward reads
    if (const Desc workspace = forward.workspace_desc(); context.wants_backward()) {
      writes.push_back({DNNL_ARG_WORKSPACE, save(workspace)});
      behind.push_back(writes.back());
    }
    forward_.add(forward, reads(forward_, forward), writes);
    put(Out::Y, y_.as(rows(wide_dims(), kFloat)), y_view());
    put(Out::Y_h, h_end_, state_view());
    put(Out::Y_c, c_end_, state_view());
    if (context.wants_backward()) add_backward(cell_.backward(descs, forward), behind);
  }

  void forward(OpContext& context) override {
    const auto inputs = completed(context.inputs);
    OpContext own = context;
    own.inputs = inputs;
    forward_.run(own);
  }
  void backward(GradContext& context) override {
    const auto inputs = completed(context.inputs);
    std::array<const Tensor*, 3> gradients{};
    for (std::size_t k = 0; k < gradients.size(); ++k) {
      gradients[k] = context.has_grad_output(k) ? &context.grad_output(k) : &zeros_.tensor();
    }
    GradContext own = context;
    own.inputs = inputs;
    own.grad_outputs = gradients;
    backward_.run(own);
  }

 private:
  /// Inputs with zeros for missing ones: oneDNN has no cells without a bias, and without an initial
  /// state its gradients of weights are wrong.
  [[nodiscard]] std::array<const Value*, RecurrentIn::P> completed(
      std::span<const Value* const> given) const {
    std::array<const Value*, RecurrentIn::P> result{};
    std::copy_n(given.begin(), std::min(given.size(), result.size()), result.begin());
    for (const std::size_t i : {RecurrentIn::B, RecurrentIn::initial_h, RecurrentIn::initial_c}) {
      if (!result[i]) result[i] = &zeros_;
    }
    return result;
  }
  [[nodiscard]] bool is_lstm() const { return cell_.kind == Kind::lstm; }
  [[nodiscard]] Dims state_dims() const { return {1, directions_, samples_, hidden_}; }
  [[nodiscard]] Dims wide_dims() const { return {steps_, samples_, directions_, hidden_}; }
  /// View of y in `wide_dims`, or of a state in `state_dims`, as ONNX defines them.
  [[nodiscard]] Desc y_view() const {
    if (samples_first_) {
      return rows({samples_, steps_, directions_, hidden_}, kFloat).permute_axes({1, 0, 2, 3});
    }
    return rows({steps_, directions_, samples_, hidden_}, kFloat).permute_axes({0, 2, 1, 3});
  }
  [[nodiscard]] Desc state_view() const {
    if (!samples_first_) return rows(state_dims(), kFloat);
    return rows({1, samples_, directions_, hidden_}, kFloat).permute_axes({0, 2, 1, 3});
  }
  [[nodiscard]] Desc x_view() const {
    if (!samples_first_) return rows(context().input(RecurrentIn::X));
    return rows(context().input(RecurrentIn::X)).permute_axes({1, 0, 2});
  }
  /// An optional input.
  [[nodiscard]] static Argument given(std::size_t i, const Desc& desc) {
    return {Argument::Place::input, i, desc};
  }
  /// Memory of a result until it is copied to the node's outputs, and for backward.
  Argument place(const Desc& desc) {
    return context().wants_backward() ? save(desc) : forward_.scratch(desc);
  }
  void put(std::size_t k, const Argument& from, const Desc& view) {
    if (context().wants_output(k)) forward_.reorder(from, output(k).as(view));
  }

  [[nodiscard]] CellDescs cell_descs() const {
    const Desc state = rows(state_dims(), kFloat), none;
    return {.x = rows({steps_, samples_, inputs_}, kFloat),
            .h = state,
            .c = is_lstm() ? state : none,
            .w = any(weights_.ordered(inputs_)),
            .r = any(weights_.ordered(hidden_)),
            .b = weights_.ordered_biases(),
            .y = y_.desc,
            .h_end = state,
            .c_end = is_lstm() ? state : none};
  }

  [[nodiscard]] std::vector<Pass::Bound> results() const {
    std::vector<Pass::Bound> result = {{DNNL_ARG_DST_LAYER, y_}, {DNNL_ARG_DST_ITER, h_end_}};
    if (is_lstm()) result.push_back({DNNL_ARG_DST_ITER_C, c_end_});
    return result;
  }

  /// Inputs of `cells`, with weights and biases in oneDNN's order.
  std::vector<Pass::Bound> reads(Pass& pass, const dnnl::primitive_desc_base& cells) const {
    using Part = OrderedGates::Part;
    const auto ordered = [&](std::size_t i, const Desc& view, int name, Part part) {
      return Pass::Bound{
          name, ordered_input(pass, i, view, part, cells.query_md(dnnl::query::exec_arg_md, name))};
    };
    std::vector<Pass::Bound> result = {
        {DNNL_ARG_SRC_LAYER, input(RecurrentIn::X).as(x_view())},
        {DNNL_ARG_SRC_ITER, given(RecurrentIn::initial_h, state_view())},
        ordered(RecurrentIn::W, weights_.given(inputs_), DNNL_ARG_WEIGHTS_LAYER, Part::weights),
        ordered(RecurrentIn::R, weights_.given(hidden_), DNNL_ARG_WEIGHTS_ITER, Part::weights),
        ordered(RecurrentIn::B, weights_.given_biases(), DNNL_ARG_BIAS, Part::biases)};
    if (is_lstm())
      result.push_back({DNNL_ARG_SRC_ITER_C, given(RecurrentIn::initial_c, state_view())});
    return result;
  }

  /// Reordered once if the executor keeps it, otherwise within `pass`.
  [[nodiscard]] Argument ordered_input(Pass& pass, std::size_t i, const Desc& view,
                                       OrderedGates::Part part, const Desc& wanted) const {
    const OrderedGates gates(wanted, view, weights_, part);
    if (!context().keeps_layouts() || !context().has_input(i)) {
      return gates.prepared(pass, given(i, view));
    }
    context().want_layout(i, std::make_shared<OrderedGates>(gates));
    return given(i, wanted);
  }

  void add_backward(const dnnl::primitive_desc_base& cells, const std::vector<Pass::Bound>& behind);

  Cell cell_;
  bool samples_first_;
  std::int64_t steps_, samples_, inputs_, directions_, hidden_;
  RecurrentWeights weights_;
  Argument y_, h_end_, c_end_;
  Value zeros_;  ///< for missing biases, states and gradients
};

void Recurrent::add_backward(const dnnl::primitive_desc_base& cells,
                             const std::vector<Pass::Bound>& behind) {
  traits_.backward_reads_inputs = {RecurrentIn::X, RecurrentIn::W,         RecurrentIn::R,
                                   RecurrentIn::B, RecurrentIn::initial_h, RecurrentIn::initial_c};
  std::vector<Pass::Bound> all = reads(backward_, cells);
  all.insert(all.end(), behind.begin(), behind.end());
  const auto gradient = [](std::size_t k, const Desc& desc) {
    return Argument{Argument::Place::grad_output, k, desc};
  };
  const Argument dy = backward_.scratch(y_.desc);
  backward_.reorder(gradient(Out::Y, y_view()), dy.as(rows(wide_dims(), kFloat)));
  all.push_back({DNNL_ARG_DIFF_DST_LAYER, dy});
  all.push_back({DNNL_ARG_DIFF_DST_ITER, gradient(Out::Y_h, state_view())});
  if (is_lstm()) all.push_back({DNNL_ARG_DIFF_DST_ITER_C, gradient(Out::Y_c, state_view())});

  const auto target = [&](std::size_t i, const Desc& view) {
    return context().wants_grad(i) ? grad_input(i).as(view)
                                   : backward_.scratch(rows(view.get_dims(), kFloat));
  };
  const Argument dw = backward_.scratch(weights_.ordered(inputs_));
  const Argument dr = backward_.scratch(weights_.ordered(hidden_));
  const Argument db = backward_.scratch(weights_.ordered_biases());
  std::vector<Pass::Bound> writes = {
      {DNNL_ARG_DIFF_SRC_LAYER, target(RecurrentIn::X, x_view())},
      {DNNL_ARG_DIFF_SRC_ITER, target(RecurrentIn::initial_h, state_view())},
      {DNNL_ARG_DIFF_WEIGHTS_LAYER, dw},
      {DNNL_ARG_DIFF_WEIGHTS_ITER, dr},
      {DNNL_ARG_DIFF_BIAS, db}};
  if (is_lstm()) {
    writes.push_back({DNNL_ARG_DIFF_SRC_ITER_C, target(RecurrentIn::initial_c, state_view())});
  }
  backward_.add(cells, all, writes);
  for (const auto& [i, from, width] :
       {std::tuple{RecurrentIn::W, dw, inputs_}, {RecurrentIn::R, dr, hidden_}}) {
    if (!context().wants_grad(i)) continue;
    weights_.restore(backward_, from, grad_input(i).as(weights_.given(width)));
  }
  if (!context().wants_grad(RecurrentIn::B)) return;
  weights_.restore_biases(backward_, db, grad_input(RecurrentIn::B).as(weights_.given_biases()));
}

Support check_recurrent(const PlanContext& context) {
  const std::string op = context.node().op_type;
  if (context.node().opset < 7) return {op + " before opset 7"};
  if (context.dtype(RecurrentIn::X) != DType::float32)
    return {op + " in a type other than float32"};
  if (context.has_input(RecurrentIn::sequence_lens)) return {op + " with sequence lengths"};
  if (context.has_input(RecurrentIn::P)) return {op + " with peepholes"};
  if (context.node().attribute<float>("clip")) return {op + " with clipped gates"};
  const auto* coupled = context.node().attribute<std::int64_t>("input_forget");
  if (coupled && *coupled != 0) return {op + " with coupled gates"};
  const Names names = activations_of(context);
  const Names usual = op == "LSTM"  ? Names{"Sigmoid", "Tanh", "Tanh"}
                      : op == "GRU" ? Names{"Sigmoid", "Tanh"}
                                    : Names{names.empty() || names[0] != "Relu" ? "Tanh" : "Relu"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != usual[i % usual.size()]) return {op + " with the activation " + names[i]};
  }
  return floats(context);
}

}  // namespace

void register_recurrent(OperatorRegistry& registry) {
  add<Recurrent, nodes::RNN>(registry, check_recurrent, Kind::rnn);
  add<Recurrent, nodes::GRU>(registry, check_recurrent, Kind::gru);
  add<Recurrent, nodes::LSTM>(registry, check_recurrent, Kind::lstm);
}

}  // namespace d5::onednn
