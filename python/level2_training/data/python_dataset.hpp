// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/trampoline_self_life_support.h>

#include <string>
#include <vector>

#include "bindings.hpp"
#include "d5/level2_training/data/dataset.hpp"

namespace d5::python {

/// A data set in Python, which lives as long as either side needs it. Its samples are read one
/// after another, because Python runs one thread at a time.
class PythonDataset final : public Dataset, public py::trampoline_self_life_support {
 public:
  /// The class attribute `name`, else the class's name.
  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::int64_t size() const override;
  /// Read once.
  [[nodiscard]] const std::vector<Field>& fields() const override;
  void read(std::span<const std::int64_t> indices, const Draw& draw,
            std::span<Tensor> batch) const override;

 private:
  mutable std::vector<Field> fields_;
};

}  // namespace d5::python
