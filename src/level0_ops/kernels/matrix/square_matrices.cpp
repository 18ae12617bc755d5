// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/matrix/square_matrices.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

const Shape& square_matrices(const InferContext& context) {
  const Shape& x = context.shape(0);
  const std::size_t rank = x.rank();
  if (rank >= 2 && x[rank - 2] == x[rank - 1]) return x;
  throw ShapeError(fmt::format("{}: X is {}, expected square matrices in the last dimensions",
                               context.who(), to_string(x)));
}

}  // namespace d5::detail
