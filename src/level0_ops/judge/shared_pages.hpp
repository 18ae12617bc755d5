// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/files/owned_descriptor.hpp"

namespace d5::detail {

/// Anonymous memory that another process can map by its descriptor. Its size is sealed.
class SharedPages {
 public:
  enum class Others {
    read,   ///< others cannot map it writable, nor write to it
    write,  ///< others may write
  };
  /// Throws: IoError if the system gives no memory.
  SharedPages(const char* name, std::size_t bytes, Others others);
  ~SharedPages();
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] int descriptor() const { return file_.get(); }

 private:
  OwnedDescriptor file_;
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace d5::detail
