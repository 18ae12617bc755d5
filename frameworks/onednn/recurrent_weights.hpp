// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "pass.hpp"
#include "recurrent_cell.hpp"

namespace d5::onednn {

/// Converts weights and biases of recurrent layers between ONNX's order of gates and oneDNN's.
///
/// Shapes: weights are D,G H,I in ONNX and L,D,I,G,H in oneDNN; biases D,2 G H and L,D,G,H.
class RecurrentWeights {
 public:
  RecurrentWeights(const Cell& cell, std::int64_t directions, std::int64_t hidden)
      : cell_(cell), directions_(directions), hidden_(hidden) {}

  /// Descriptor of ONNX's weights for `width` inputs, in oneDNN's dimensions.
  [[nodiscard]] Desc given(std::int64_t width) const;
  [[nodiscard]] Desc given_biases() const;
  /// oneDNN's, in rows.
  [[nodiscard]] Desc ordered(std::int64_t width) const;
  [[nodiscard]] Desc ordered_biases() const;

  /// Weights with descriptor `given` in oneDNN's order, in scratch memory of `pass` if necessary.
  [[nodiscard]] Argument order(Pass& pass, const Argument& weights) const;
  /// The sums of the biases of W and R.
  [[nodiscard]] Argument order_biases(Pass& pass, const Argument& biases) const;
  /// Gradients the other way.
  void restore(Pass& pass, const Argument& ordered, const Argument& weights) const;
  void restore_biases(Pass& pass, const Argument& ordered, const Argument& biases) const;

 private:
  [[nodiscard]] std::int64_t gate(std::int64_t g) const;
  [[nodiscard]] bool is_apart(std::int64_t g) const;

  Cell cell_;
  std::int64_t directions_, hidden_;
};

/// Weights or biases reordered once to oneDNN's order and the layout of its cells.
class OrderedGates final : public Blocked {
 public:
  enum class Part { weights, biases };
  /// `given`: the node's layout, in oneDNN's dimensions.
  OrderedGates(Desc wanted, Desc given, const RecurrentWeights& order, Part part)
      : Blocked(std::move(wanted), std::move(given)), order_(order), part_(part) {}
  [[nodiscard]] std::string name() const override { return "gates in " + Blocked::name(); }
  [[nodiscard]] Argument prepared(Pass& pass, const Argument& x) const override {
    return part_ == Part::weights ? order_.order(pass, x) : order_.order_biases(pass, x);
  }
  [[nodiscard]] bool is_layout() const override { return false; }

 private:
  RecurrentWeights order_;
  Part part_;
};

}  // namespace d5::onednn
