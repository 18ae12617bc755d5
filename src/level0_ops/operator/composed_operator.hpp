// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "d5/level0_ops/operator/operator.hpp"

namespace d5::detail {

/// A value within a composition; empty if omitted.
struct Term {
  std::int64_t id = -1;
  explicit operator bool() const { return id >= 0; }
};

/// The operators that a node is composed of, in execution order. Each is inferred when it is added,
/// so that the next may depend on its shapes.
class Composition {
 public:
  using Attributes = std::map<std::string, onnx::Attribute, std::less<>>;

  /// A step's operator with its name for messages, inputs and outputs.
  struct Step {
    std::shared_ptr<const Operator> op;
    onnx::Node node;
    std::vector<Term> inputs, outputs;
  };
  /// An input of the node, a constant of the composition, or a step's output.
  struct Entry {
    ValueDesc desc;
    std::int64_t input = -1;          ///< index of the node's input
    const Value* constant = nullptr;  ///< null: unknown before running
    std::int64_t output = -1;         ///< index of the node's output
    std::shared_ptr<const Value> own = nullptr;
  };

  explicit Composition(const InferContext& context);

  [[nodiscard]] const InferContext& context() const { return context_; }
  [[nodiscard]] Term input(std::size_t i) const;
  [[nodiscard]] const TensorDesc& desc(Term term) const;
  [[nodiscard]] const Shape& shape(Term term) const { return desc(term).shape; }

  Term constant(Tensor value);
  /// A constant list of int64, for shapes and axes.
  Term integers(const std::vector<std::int64_t>& values) {
    return constant(Tensor::vector(values));
  }

  /// A scalar.
  Term number(double value, DType dtype);
  /// `x` multiplied by a number; `x` itself for 1.
  Term scaled(Term x, double factor);

  /// Adds an operator of ONNX, of the newest or the given opset. Throws: what making and inferring
  /// it throws.
  Term add(const std::string& op_type, std::vector<Term> inputs, Attributes attributes = {});
  std::vector<Term> add(std::size_t outputs, const std::string& op_type, std::vector<Term> inputs,
                        Attributes attributes = {}, std::optional<int> opset = {});
  /// Adds an operator that is not in ONNX.
  std::vector<Term> add(std::size_t outputs, std::shared_ptr<const Operator> op,
                        const std::string& op_type, std::vector<Term> inputs);

  /// Makes `term`, a step's output that is not an output of the node yet, output `k` of the node.
  void output(std::size_t k, Term term);

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] const std::deque<Entry>& entries() const { return entries_; }
  /// Descriptions of the outputs set by `output`; the others have kind none.
  [[nodiscard]] std::vector<ValueDesc> outputs() const;

  /// The descriptions of `terms` for a step.
  [[nodiscard]] std::vector<ValueDesc> descs(const std::vector<Term>& terms) const;
  [[nodiscard]] std::vector<const Value*> constants(const std::vector<Term>& terms) const;

 private:
  std::vector<Term> add(Step step, std::size_t outputs);

  const InferContext& context_;
  std::vector<Step> steps_;
  std::deque<Entry> entries_;  ///< a deque, so that addresses of shapes are stable
};

/// An operator defined as a composition of others. Its kernel runs theirs, with intermediate values
/// in scratch memory; backward runs them in reverse order. Small floats are widened once for all
/// steps, and rounded at the end.
class ComposedOperator : public Operator {
 public:
  [[nodiscard]] std::vector<ValueDesc> infer(const InferContext& context) const override;
  /// The operations of all steps, without reads and writes of intermediate values.
  [[nodiscard]] Cost cost(const InferContext& context) const final;
  [[nodiscard]] std::unique_ptr<Kernel> plan(PlanContext& context) const final;

 protected:
  virtual void compose(Composition& c) const = 0;
};

}  // namespace d5::detail
