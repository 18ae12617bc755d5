// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/typing.h>

#include "bindings.hpp"

namespace d5::python {

/// Dicts of plain values, which pandas.DataFrame reads.
using RowDicts = py::typing::List<Values>;

/// A dict per item; `fill(row, one)` writes it.
template <class All, class Fill>
RowDicts rows_of(const All& all, const Fill& fill) {
  RowDicts rows;
  for (const auto& one : all) {
    Values row;
    fill(row, one);
    rows.append(row);
  }
  return rows;
}

}  // namespace d5::python
