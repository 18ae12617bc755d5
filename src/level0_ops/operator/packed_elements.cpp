// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/operator/packed_elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

Term unpacked(Composition& c, Term bytes, std::int64_t bits, FirstElement first) {
  if (bits != 2 && bits != 4 && bits != 8) {
    throw ValueError(
        fmt::format("{}: an element has {} bits, expected 2, 4 or 8", c.context().who(), bits));
  }
  if (bits == 8) return bytes;
  const auto number = [&](std::int64_t value) {
    return c.constant(Tensor::scalar(std::uint8_t(value)));
  };
  std::vector<Term> elements;
  for (std::int64_t shift = 0; shift < 8; shift += bits) {
    Term element = bytes;
    if (shift > 0) {
      element = c.add("BitShift", {element, number(shift)}, {{"direction", std::string("RIGHT")}});
    }
    element = c.add("BitwiseAnd", {element, number((1 << bits) - 1)});
    elements.push_back(c.add("Unsqueeze", {element, c.integers({-1})}));
  }
  if (first == FirstElement::high) std::ranges::reverse(elements);
  const Shape& packed = c.shape(bytes);
  std::vector<std::int64_t> shape(packed.begin(), packed.end());
  shape.back() *= 8 / bits;
  const Term stacked = c.add("Concat", elements, {{"axis", std::int64_t(-1)}});
  return c.add("Reshape", {stacked, c.integers(shape)}, {{"allowzero", std::int64_t(1)}});
}

}  // namespace d5::detail
