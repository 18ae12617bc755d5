// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <list>
#include <vector>

#include "core/trace/packed_record.hpp"

namespace d5::detail {

/// Records in the order of adding, in blocks of bytes. The oldest may be dropped; empty blocks are
/// reused.
class RecordLog {
 public:
  void add(const PackedRecord& record);
  void drop_oldest();
  void clear();
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::vector<TraceRecord> records() const;

 private:
  static constexpr std::size_t kBlockBytes = std::size_t{64}
                                             << 10;  ///< more than the longest record, 7 KiB
  static constexpr std::size_t kMostSpare = 512;
  struct Block {
    Block() {}  // leaves `bytes` uninitialised
    std::size_t used = 0;
    std::array<char, kBlockBytes> bytes;
  };
  void spare_first();

  std::list<Block> blocks_, spare_;
  std::size_t first_ = 0;  ///< offset of the oldest record in the first block
  std::size_t size_ = 0;
};

}  // namespace d5::detail
