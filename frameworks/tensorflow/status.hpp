// SPDX-License-Identifier: Apache-2.0
// Owners of TensorFlow's objects, and its errors as d5's exceptions.
#pragma once

#include <memory>
#include <string>

#include "library.hpp"

namespace d5::tensorflow {

/// `Delete`: one of the library's functions.
template <auto& Delete>
struct Deleter {
  template <class T>
  void operator()(T* object) const {
    Delete(object);
  }
};
using TensorPointer = std::unique_ptr<TF_Tensor, Deleter<TF_DeleteTensor>>;
using HandlePointer = std::unique_ptr<TFE_TensorHandle, Deleter<TFE_DeleteTensorHandle>>;
using OpPointer = std::unique_ptr<TFE_Op, Deleter<TFE_DeleteOp>>;

/// Status of a TensorFlow call.
class Status {
 public:
  operator TF_Status*() const { return status_.get(); }
  [[nodiscard]] bool ok() const { return TF_GetCode(status_.get()) == TF_OK; }
  /// Throws: MemoryError; Unsupported for what TensorFlow lacks; ValueError for all other errors.
  void expect_ok(const std::string& who) const {
    if (!ok()) [[unlikely]]
      complain(who);
  }
  /// While planning: an error means that TensorFlow has no operation for the graph.
  /// Throws: Unsupported.
  void expect_supported(const std::string& who) const;

 private:
  [[noreturn]] void complain(const std::string& who) const;

  std::unique_ptr<TF_Status, Deleter<TF_DeleteStatus>> status_{TF_NewStatus()};
};

}  // namespace d5::tensorflow
