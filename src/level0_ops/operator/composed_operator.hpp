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

/// A value within a composition; none stands for what is left out.
struct Term {
  std::int64_t id = -1;
  explicit operator bool() const { return id >= 0; }
};

/// The operators that one node stands for, in the order in which they run. Each is inferred when it
/// is added, so that the next may depend on shapes.
class Composition {
 public:
  using Attributes = std::map<std::string, onnx::Attribute, std::less<>>;

  /// The operator of a step, as it is called in messages, what it reads and writes.
  struct Step {
    std::shared_ptr<const Operator> op;
    onnx::Node node;
    std::vector<Term> inputs, outputs;
  };
  /// One of: an input of the node; a constant of the composition; a step's output.
  struct Entry {
    ValueDesc desc;
    std::int64_t input = -1;          ///< which of the node's
    const Value* constant = nullptr;  ///< null: not known before it runs
    std::int64_t output = -1;         ///< which of the node's it becomes
    std::shared_ptr<const Value> own = nullptr;
  };

  explicit Composition(const InferContext& context);

  [[nodiscard]] const InferContext& context() const { return context_; }
  [[nodiscard]] Term input(std::size_t i) const;
  [[nodiscard]] const TensorDesc& desc(Term term) const;
  [[nodiscard]] const Shape& shape(Term term) const { return desc(term).shape; }

  Term constant(Tensor value);
  /// A list of int64, as shapes and axes are.
  Term integers(const std::vector<std::int64_t>& values) {
    return constant(Tensor::vector(values));
  }

  /// A scalar.
  Term number(double value, DType dtype);
  /// `x` times a number; `x` itself for 1.
  Term scaled(Term x, double factor);

  /// An operator of ONNX, of its newest opset or the one that is given.
  /// Throws: what making and inferring it throws.
  Term add(const std::string& op_type, std::vector<Term> inputs, Attributes attributes = {});
  std::vector<Term> add(std::size_t outputs, const std::string& op_type, std::vector<Term> inputs,
                        Attributes attributes = {}, std::optional<int> opset = {});
  /// One that has no name among ONNX's.
  std::vector<Term> add(std::size_t outputs, std::shared_ptr<const Operator> op,
                        const std::string& op_type, std::vector<Term> inputs);

  /// `term`, a step's output that is no other's yet, is output `k` of the node.
  void output(std::size_t k, Term term);

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] const std::deque<Entry>& entries() const { return entries_; }
  /// Those that `output` has told; the others have kind none.
  [[nodiscard]] std::vector<ValueDesc> outputs() const;

  /// What the step sees of `terms`.
  [[nodiscard]] std::vector<ValueDesc> descs(const std::vector<Term>& terms) const;
  [[nodiscard]] std::vector<const Value*> constants(const std::vector<Term>& terms) const;

 private:
  std::vector<Term> add(Step step, std::size_t outputs);

  const InferContext& context_;
  std::vector<Step> steps_;
  std::deque<Entry> entries_;  ///< whose shapes stay where they are as more come
};

/// An operator that means what several others mean one after the other. Its kernel runs theirs,
/// with what lies between them in scratch memory; backward goes through them in the opposite order.
/// Small floats are widened for all of them at once, and rounded at the end.
class ComposedOperator : public Operator {
 public:
  [[nodiscard]] std::vector<ValueDesc> infer(const InferContext& context) const override;
  /// The operations of all steps; nothing of what lies between them is counted as read or written.
  [[nodiscard]] Cost cost(const InferContext& context) const final;
  [[nodiscard]] std::unique_ptr<Kernel> plan(PlanContext& context) const final;

 protected:
  virtual void compose(Composition& c) const = 0;
};

}  // namespace d5::detail
