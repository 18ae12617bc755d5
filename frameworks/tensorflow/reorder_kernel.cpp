// SPDX-License-Identifier: Apache-2.0
#include "reorder_kernel.hpp"

#include <numeric>

#include "permuted.hpp"

namespace d5::tensorflow {
namespace {

Sizes dimensions_of(const TensorDesc& desc) {
  if (const Permuted* own = permuted(desc)) return own->order().dimensions;
  Sizes plain(desc.shape.rank());
  std::iota(plain.begin(), plain.end(), 0);
  return plain;
}

/// Permutation of dimensions from one memory order to another.
Sizes permutation(const TensorDesc& from, const TensorDesc& to) {
  const Sizes there = dimensions_of(from);
  Sizes places(there.size()), result;
  for (std::size_t i = 0; i < there.size(); ++i) places[std::size_t(there[i])] = std::int64_t(i);
  for (const std::int64_t d : dimensions_of(to)) result.push_back(places[std::size_t(d)]);
  return result;
}

}  // namespace

ReorderKernel::ReorderKernel(const TensorDesc& from, const TensorDesc& to)
    : graph_("a reorder of " + to_string(from)),
      x_{graph_.placeholder(in_memory(from))},
      y_{graph_.transposed(x_[0], permutation(from, to))} {}

void ReorderKernel::forward(OpContext& context) {
  if (!program_ || !program_->is_current()) program_.emplace(graph_, x_, y_);
  TFE_TensorHandle* const x = view_.of(context.input(0));
  program_->run({&x, 1});
  copy_to(context.output(0), *program_->result(0));
  program_->forget();
}

}  // namespace d5::tensorflow
