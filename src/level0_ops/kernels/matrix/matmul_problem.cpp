// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/matrix/matmul_problem.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

Stack stack_of(const Shape& own, const Shape& stack, std::int64_t size) {
  Stack result;
  std::int64_t stride = size;
  for (std::size_t d = stack.rank(); d-- > 0;) {
    const std::size_t missing = stack.rank() - own.rank();
    const std::int64_t own_size = d < missing ? 1 : own[d - missing];
    result.dims.insert(result.dims.begin(), {stack[d], own_size == 1 ? 0 : stride});
    stride *= own_size;
  }
  return result;
}

}  // namespace

MatMulProblem matmul_problem(const Shape& a, const Shape& b, std::string_view who) {
  if (a.rank() == 0 || b.rank() == 0) {
    throw ShapeError(fmt::format("{}: A is {} and B is {}, expected vectors or matrices", who,
                                 to_string(a), to_string(b)));
  }
  MatMulProblem p;
  if (a.rank() > 1) p.m = a[a.rank() - 2];
  p.k = a[a.rank() - 1];
  if (b.rank() > 1) p.n = b[b.rank() - 1];
  if (b[b.rank() - std::min<std::size_t>(2, b.rank())] != p.k) {
    throw ShapeError(fmt::format("{}: A is {} but B is {}; the inner sizes must agree", who,
                                 to_string(a), to_string(b)));
  }
  const Shape stack_a(a.dims().first(a.rank() - std::min<std::size_t>(2, a.rank())));
  const Shape stack_b(b.dims().first(b.rank() - std::min<std::size_t>(2, b.rank())));
  const Shape stack = broadcast(stack_a, stack_b);
  p.y = stack;
  if (a.rank() > 1) p.y.push_back(p.m);
  if (b.rank() > 1) p.y.push_back(p.n);
  if (stack_b.elements() == 1 && stack_a == stack && a.rank() > 1) {
    // With a single right matrix, all left rows form one tall matrix.
    p.m *= stack.elements();
  } else {
    p.matrices = p.y.elements() == 0 ? 0 : stack.elements();
    p.a = stack_of(stack_a, stack, p.m * p.k);
    p.b = stack_of(stack_b, stack, p.k * p.n);
  }
  return p;
}

}  // namespace d5::detail
