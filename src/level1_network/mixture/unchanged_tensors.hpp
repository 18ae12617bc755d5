// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "d5/core/tensor/value.hpp"

namespace d5 {

/// The contents of tensors that somebody reads and has no right to change. What was changed all the
/// same is put back when this ends.
class UnchangedTensors {
 public:
  UnchangedTensors() = default;
  ~UnchangedTensors() { (void)put_back(); }
  UnchangedTensors(const UnchangedTensors&) = delete;
  UnchangedTensors& operator=(const UnchangedTensors&) = delete;

  /// Keeps a copy. Texts, sequences and what lies on a device are not looked at.
  void keep(const std::string& name, const Value& value);
  /// The first tensor that is no longer what it was; nothing: all are. All are again, then.
  std::optional<std::string> put_back();

 private:
  struct Kept {
    std::string name;
    Tensor tensor, before;  ///< `before`: its bytes
  };
  std::vector<Kept> kept_;
};

}  // namespace d5
