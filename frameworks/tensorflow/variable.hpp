// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "eager_operation.hpp"
#include "graph.hpp"
#include "tensor_view.hpp"

namespace d5::tensorflow {

/// A TensorFlow variable, which its optimizers update; it has its own memory.
class Variable {
 public:
  /// Adds its operations to `graph`, which may be destroyed earlier; the runtime may not.
  Variable(Graph& graph, const Runtime& runtime, const TensorDesc& desc);

  /// The variable as an argument of operations in `graph`, and of executed ones.
  [[nodiscard]] Term term() const { return term_; }
  [[nodiscard]] TFE_TensorHandle* resource() const { return resource_.get(); }

  /// Sets it to `value`, and shares its memory until an operation updates the variable.
  void assign(TFE_TensorHandle* value);
  void read(Tensor& into);

 private:
  [[nodiscard]] static Term declare(Graph& graph, const TensorDesc& desc);

  Status status_;
  std::string who_;
  Term term_;
  HandlePointer resource_;
  EagerOperation assign_, read_;
};

}  // namespace d5::tensorflow
