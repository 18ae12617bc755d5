// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "d5/core/tensor/tensor.hpp"
#include "permuted.hpp"
#include "status.hpp"

namespace d5::tensorflow {

/// One result of an operation of a graph; `oper` is null for a missing one.
using Term = TF_Output;
using Terms = std::vector<Term>;

[[nodiscard]] inline bool is_there(Term term) { return term.oper != nullptr; }
[[nodiscard]] inline bool operator==(const Term& a, const Term& b) {
  return a.oper == b.oper && a.index == b.index;
}
/// The `k`th result of the operation of `term`.
[[nodiscard]] inline Term result(Term term, int k) { return {term.oper, k}; }

using Sizes = std::vector<std::int64_t>;

/// An attribute of an operation. TensorFlow infers types and numbers of inputs itself.
struct Attribute {
  const char* name;
  std::variant<std::int64_t, float, bool, DType, const char*, Sizes, Shape> value;
};

/// An input of an operation: a term, or a list of them.
class Argument {
 public:
  Argument(Term term) : terms_{term} {}
  Argument(Terms list) : terms_(std::move(list)), is_list_(true) {}
  [[nodiscard]] const Terms& terms() const { return terms_; }
  [[nodiscard]] bool is_list() const { return is_list_; }

 private:
  Terms terms_;
  bool is_list_ = false;
};

/// A graph of TensorFlow's operations under construction. TensorFlow checks each operation's types
/// and shapes as it is added.
///
///     const Term x = graph.placeholder({DType::float32, {2, 3}});
///     const Term y = graph.add("Softplus", {x});
///     const Term z = graph.add("MatMul", {y, y}, {{"transpose_b", true}});
class Graph {
 public:
  /// `who` begins messages about what is added next.
  explicit Graph(std::string who = "a graph") : who_(std::move(who)) {}
  void set_who(std::string who) { who_ = std::move(who); }
  [[nodiscard]] const std::string& who() const { return who_; }

  [[nodiscard]] Term placeholder(const TensorDesc& desc);
  /// Throws: Unsupported for a type or shape that the operation does not support.
  [[nodiscard]] Term add(const char* type, std::initializer_list<Argument> inputs,
                         std::initializer_list<Attribute> attributes = {});

  // Constants.
  [[nodiscard]] Term constant(const Tensor& value);
  /// int32, the type of axes and sizes. Throws: Unsupported for a number of more than 32 bits.
  [[nodiscard]] Term integers(const Sizes& values);
  [[nodiscard]] Term integer(std::int64_t value);
  /// A scalar of the type `dtype`, floating-point or integer.
  [[nodiscard]] Term number(double value, DType dtype);
  /// A scalar of the type of `like`.
  [[nodiscard]] Term number(double value, Term like) { return number(value, dtype(like)); }

  // Helpers for many operators.
  [[nodiscard]] Term reshaped(Term x, const Shape& shape);
  [[nodiscard]] Term transposed(Term x, const Sizes& permutation);
  [[nodiscard]] Term cast(Term x, DType dtype);
  /// One-hot vectors of `places`; a run rejects indices outside [0, size).
  [[nodiscard]] Term ones_within(Term places, std::int64_t size, DType dtype);
  /// Transposes `x`. If `x` is fed and has no other reader, the result may be fed instead.
  [[nodiscard]] Term reordered(Term x, DimensionOrder order);
  struct Reordered {
    Term term;
    DimensionOrder order;
  };
  /// Null if `x` is also read in its original order.
  [[nodiscard]] const Reordered* reordered(Term x) const;
  /// Transposes N,C,spatial to N,spatial,C, over which TensorFlow's windows slide, and back. A
  /// tensor that was transposed back reuses the original.
  [[nodiscard]] Term channels_last(Term x);
  [[nodiscard]] Term channels_first(Term x);
  [[nodiscard]] bool has_channels_last(Term x) const {
    return channels_last_.contains({x.oper, x.index});
  }
  /// An elementwise operation of one or two inputs. If the largest input has its channels last,
  /// they stay last; other inputs must have the same number of dimensions, or none.
  [[nodiscard]] Term elementwise(const char* type, const Terms& inputs,
                                 std::initializer_list<Attribute> attributes = {});

  [[nodiscard]] DType dtype(Term term) const;
  /// Unknown sizes are `kUnknownDim`, an unknown rank is one unknown size.
  [[nodiscard]] Shape shape(Term term) const;

  /// Gradients of `ys`, each with the gradient in `slopes`, for `xs`; missing for those that no `y`
  /// depends on. Throws: Unsupported if an operation has none.
  [[nodiscard]] Terms gradients(Terms ys, const Terms& xs, Terms slopes);

  [[nodiscard]] TF_Graph* get() const { return graph_.get(); }

 private:
  using Key = std::pair<TF_Operation*, int>;
  [[nodiscard]] Term finish(TF_OperationDescription* operation);
  [[nodiscard]] std::string next_name() { return "n" + std::to_string(count_++); }

  std::unique_ptr<TF_Graph, Deleter<TF_DeleteGraph>> graph_{TF_NewGraph()};
  Status status_;
  std::string who_;
  int count_ = 0;
  std::map<Key, Term> channels_last_;
  std::map<Key, Reordered> reordered_;
};

}  // namespace d5::tensorflow
