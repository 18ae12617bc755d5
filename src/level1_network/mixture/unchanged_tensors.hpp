// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "d5/core/tensor/value.hpp"

namespace d5 {

/// Copies of tensors that a run reads and must not change. Changes are undone in the destructor.
class UnchangedTensors {
 public:
  UnchangedTensors() = default;
  ~UnchangedTensors() { (void)put_back(); }
  UnchangedTensors(const UnchangedTensors&) = delete;
  UnchangedTensors& operator=(const UnchangedTensors&) = delete;

  /// Keeps a copy. Strings, sequences and values on a device are skipped.
  void keep(const std::string& name, const Value& value);
  /// Restores all tensors. Returns the first that had changed; empty if none had.
  std::optional<std::string> put_back();

 private:
  struct Kept {
    std::string name;
    Tensor tensor, before;  ///< `before`: its bytes
  };
  std::vector<Kept> kept_;
};

}  // namespace d5
