// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/storage/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

MappedFile::MappedFile(std::string path, Access access) : path_(std::move(path)) {
  const auto fail = [&](const char* reason) {
    throw IoError(fmt::format("cannot read '{}': {}", printable(path_), reason));
  };
  const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) fail(std::strerror(errno));
  struct stat status{};
  const bool is_known = ::fstat(file, &status) == 0;
  const bool is_regular = is_known && S_ISREG(status.st_mode);
  const auto size = std::size_t(is_regular ? status.st_size : 0);
  const bool copies = access == Access::copy;
  void* const place = size > 0 ? ::mmap(nullptr, size, copies ? PROT_READ | PROT_WRITE : PROT_READ,
                                        copies ? MAP_PRIVATE : MAP_SHARED, file, 0)
                               : nullptr;
  const int reason = errno;
  ::close(file);
  if (!is_regular) fail("it is not a regular file");
  if (place == MAP_FAILED) fail(std::strerror(reason));
  bytes_ = {static_cast<const char*>(place), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace d5::detail
