// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/typing.h>

#include "bindings.hpp"

namespace d5::python {

/// Dicts of plain values: what pandas.DataFrame reads.
using RowDicts = py::typing::List<Values>;

/// A row of each; `fill(row, one)` writes it.
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
