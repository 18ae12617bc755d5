// SPDX-License-Identifier: Apache-2.0
// TFRecord files that are damaged, with right checksums too: refused, or read to their end.
#include "d5/core/errors/error.hpp"
#include "fuzz/container_damage.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/mutation.hpp"
#include "level2_training/data/storage/crc32c.hpp"
#include "level2_training/data/storage/little_endian.hpp"
#include "level2_training/data/storage/record_file.hpp"

namespace d5::fuzz {
namespace {

/// The same file, each record's data damaged under a right checksum.
std::string sealed(std::string_view bytes, RandomStream& random) {
  std::string result;
  constexpr std::size_t kBefore = 12, kBehind = 4;
  while (bytes.size() > kBefore + kBehind) {
    const auto length = d5::detail::from_little_endian<std::uint64_t>(bytes.data());
    if (length > bytes.size() - kBefore - kBehind) break;
    const std::string data(bytes.substr(kBefore, std::size_t(length)));
    result += d5::detail::framed_record(one_in(random, 2) ? with_damage(data, random) : data);
    bytes.remove_prefix(kBefore + kBehind + std::size_t(length));
  }
  return result;
}

}  // namespace

std::string name() { return "tfrecord"; }

void prepare() {}

std::string make_case(RandomStream& random) {
  const std::string damaged = damaged_container("tfrecord", random);
  return one_in(random, 3) ? damaged : sealed(damaged, random);
}

std::string run_case(const std::string& bytes) {
  read_container("tfrecord", bytes);
  return {};
}

}  // namespace d5::fuzz
