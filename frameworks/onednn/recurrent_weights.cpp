// SPDX-License-Identifier: Apache-2.0
#include "recurrent_weights.hpp"

#include <array>

#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

constexpr auto kFloat = dnnl::memory::data_type::f32;

/// Place `g` of dimension `axis`.
Argument part(const Argument& whole, std::size_t axis, std::int64_t g) {
  Dims dims = whole.desc.get_dims(), offset(dims.size(), 0);
  dims[axis] = 1;
  offset[axis] = g;
  return whole.as(whole.desc.submemory_desc(dims, offset));
}
Argument gate_of(const Argument& weights, std::int64_t g) { return part(weights, 3, g); }
Argument bias_of(const Argument& biases, std::int64_t g) { return part(biases, 2, g); }

}  // namespace

/// ONNX's index of oneDNN's gate: i, f, c, o are i, o, f, c there; the others agree.
std::int64_t RecurrentWeights::gate(std::int64_t g) const {
  constexpr std::array<std::int64_t, 4> kLstm = {0, 2, 3, 1};
  return cell_.kind == Cell::Kind::lstm ? kLstm[std::size_t(g)] : g;
}
/// Whether oneDNN also has separate biases of W and R for this gate.
bool RecurrentWeights::is_apart(std::int64_t g) const {
  return cell_.kind == Cell::Kind::gru_reset_behind && g + 1 == cell_.gates();
}

Desc RecurrentWeights::given(std::int64_t width) const {
  return rows({1, directions_, cell_.gates(), hidden_, width}, kFloat)
      .permute_axes({0, 1, 3, 4, 2});
}
Desc RecurrentWeights::given_biases() const {
  return rows({1, directions_, 2 * cell_.gates(), hidden_}, kFloat);
}
Desc RecurrentWeights::ordered(std::int64_t width) const {
  return rows({1, directions_, width, cell_.gates(), hidden_}, kFloat);
}
Desc RecurrentWeights::ordered_biases() const {
  return rows({1, directions_, cell_.biases(), hidden_}, kFloat);
}

Argument RecurrentWeights::order(Pass& pass, const Argument& weights) const {
  if (cell_.kind != Cell::Kind::lstm) return weights;
  const Argument result = pass.scratch(rows(weights.desc.get_dims(), kFloat));
  for (std::int64_t g = 0; g < cell_.gates(); ++g) {
    pass.reorder(gate_of(weights, gate(g)), gate_of(result, g));
  }
  return result;
}

Argument RecurrentWeights::order_biases(Pass& pass, const Argument& biases) const {
  const std::int64_t gates = cell_.gates();
  const Argument result = pass.scratch(ordered_biases());
  for (std::int64_t g = 0; g < gates; ++g) {
    const Argument of_w = bias_of(biases, gate(g)), of_r = bias_of(biases, gates + gate(g));
    const Argument sum = bias_of(result, g);
    if (is_apart(g)) {
      pass.reorder(of_w, sum);
      pass.reorder(of_r, bias_of(result, gates));
      continue;
    }
    pass.add(
        dnnl::sum::primitive_desc(engine(), sum.desc, {1, 1}, {of_w.desc, of_r.desc}, attributes()),
        {{DNNL_ARG_MULTIPLE_SRC, of_w}, {DNNL_ARG_MULTIPLE_SRC + 1, of_r}}, {{DNNL_ARG_DST, sum}});
  }
  return result;
}

void RecurrentWeights::restore(Pass& pass, const Argument& ordered, const Argument& weights) const {
  for (std::int64_t g = 0; g < cell_.gates(); ++g) {
    pass.reorder(gate_of(ordered, g), gate_of(weights, gate(g)));
  }
}

void RecurrentWeights::restore_biases(Pass& pass, const Argument& ordered,
                                      const Argument& biases) const {
  const std::int64_t gates = cell_.gates();
  for (std::int64_t g = 0; g < gates; ++g) {
    pass.reorder(bias_of(ordered, g), bias_of(biases, gate(g)));
    pass.reorder(bias_of(ordered, is_apart(g) ? gates : g), bias_of(biases, gates + gate(g)));
  }
}

}  // namespace d5::onednn
