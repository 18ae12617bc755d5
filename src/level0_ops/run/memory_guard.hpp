// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// Finds a kernel that writes where it must not: past memory that was planned for it, or into
/// memory that it may only read.
class MemoryGuard {
 public:
  /// Memory between two margins of a known pattern, and behind these what ends the process when it
  /// is touched. `what` names it: "output 0".
  [[nodiscard]] Tensor allocate(const TensorDesc& desc, std::string what);

  /// From now on until `check`, the content of `value` must not change. Sequences, optionals and
  /// strings are not watched.
  void watch(const Tensor& tensor, std::string what);
  /// Throws: ContractError naming what was written. Forgets what was watched.
  void check(const std::string& who);

 private:
  struct Block {
    Tensor whole, planned;
    std::string what;
  };
  struct Watched {
    Tensor tensor;
    std::size_t checksum;
    std::string what;
  };
  std::vector<Block> blocks_;
  std::vector<Watched> watched_;
};

}  // namespace d5::detail
