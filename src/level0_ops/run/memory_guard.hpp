// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// Detects invalid writes of a kernel: past its memory, or to memory that it may only read.
class MemoryGuard {
 public:
  /// Memory between two margins of a known pattern, surrounded by guard areas that crash the
  /// process. `what` is its name: "output 0".
  [[nodiscard]] Tensor allocate(const TensorDesc& desc, std::string what);

  /// Requires that the content of `tensor` does not change until `check`. Sequences, optionals and
  /// strings are not watched.
  void watch(const Tensor& tensor, std::string what);
  /// Ends all watches. Throws: ContractError naming the memory that was written.
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
