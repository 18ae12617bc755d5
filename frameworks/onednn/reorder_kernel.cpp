// SPDX-License-Identifier: Apache-2.0
#include "reorder_kernel.hpp"

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5::onednn {
namespace {

/// Layout of `desc`, and its row-major layout, in the same dimensions.
struct Layouts {
  Desc as_it_is, in_rows;
};
Layouts layouts_of(const TensorDesc& desc) {
  if (const Blocked* own = blocked(desc)) return {own->desc(), own->rows()};
  return {rows(desc), rows(desc)};
}

}  // namespace

ReorderKernel::ReorderKernel(const TensorDesc& from, const TensorDesc& to) {
  const Layouts source = layouts_of(from), target = layouts_of(to);
  const Argument x{Argument::Place::input, 0, source.as_it_is};
  const Argument y{Argument::Place::output, 0, target.as_it_is};
  const Blocked *left = blocked(from), *wanted = blocked(to);
  if (left && !left->is_layout()) {
    throw ContractError("onednn's reorder: " + left->name() + " is for one kernel alone");
  }
  if (wanted && !wanted->is_layout()) {
    const Argument in_rows = left ? pass_.scratch(source.in_rows) : x;
    if (left) pass_.reorder(x, in_rows);
    pass_.reorder(wanted->prepared(pass_, in_rows.as(target.in_rows)), y);
  } else if (source.in_rows == target.in_rows) {
    pass_.reorder(x, y);
  } else if (!left) {
    pass_.reorder(x.as(target.in_rows), y);
  } else if (!wanted) {
    pass_.reorder(x, y.as(source.in_rows));
  } else {  // through row-major layout, which both can describe
    const Argument between = pass_.scratch(source.in_rows);
    pass_.reorder(x, between);
    pass_.reorder(between.as(target.in_rows), y);
  }
  scratch_ = Tensor::empty(DType::uint8, {std::int64_t(pass_.scratch_bytes())});
}

void ReorderKernel::forward(OpContext& context) {
  OpContext own = context;
  own.scratch_bytes = {static_cast<std::byte*>(scratch_.raw()), scratch_.bytes()};
  pass_.run(own);
}

}  // namespace d5::onednn
