// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "d5/level0_ops/operator/infer_context.hpp"

namespace d5::detail {

/// An index of a sum: its size, and its stride in each input and, last, in the output; 0 if it does
/// not occur, or the input is broadcast along it.
struct EinsumIndex {
  std::int64_t size = 1;
  std::vector<std::int64_t> steps;
};

struct EinsumIndices {
  std::vector<EinsumIndex> indices;  ///< without indices of size 1
  Shape output;
};

/// The subscripts of an Einsum, such as "bij,bjk->bik" or "...ii->...i".
class EinsumEquation {
 public:
  /// `who` begins messages. Throws: ValueError.
  EinsumEquation(std::string_view text, std::string_view who);

  /// Resolves the equation for the shapes of the context's inputs. Throws: ShapeError.
  [[nodiscard]] EinsumIndices resolve(const InferContext& context) const;

 private:
  using Term = std::string;  // letters, and a dot for an ellipsis
  using Label = int;         // a letter, or a dimension of the ellipsis from kEllipsis on
  static constexpr Label kEllipsis = 256;

  [[nodiscard]] Term parse_term(std::string_view text) const;
  [[nodiscard]] Term implicit_output() const;
  void check_output() const;
  [[nodiscard]] static std::vector<Label> labels(const Term& term, std::size_t ellipsis_rank);
  /// The number of dimensions of the ellipsis.
  [[nodiscard]] std::size_t ellipsis_rank(const InferContext& context) const;

  std::string text_, who_;
  std::vector<Term> inputs_;
  Term output_;
};

}  // namespace d5::detail
