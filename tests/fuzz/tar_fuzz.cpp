// SPDX-License-Identifier: Apache-2.0
// Tar archives that are damaged, with right checksums too: refused, or read to their end.
#include <fmt/format.h>

#include "fuzz/container_damage.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/mutation.hpp"
#include "level2_training/data/storage/tar.hpp"

namespace d5::fuzz {
namespace {

/// The same archive with the sums that its headers ask for.
std::string sealed(std::string bytes) {
  constexpr std::size_t kBlock = d5::detail::TarReader::kBlock, kMagic = 257;
  for (std::size_t at = 0; at + kBlock <= bytes.size(); at += kBlock) {
    if (bytes.compare(at + kMagic, 5, "ustar") != 0) continue;
    bytes.replace(at + 148, 8, 8, ' ');
    unsigned sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i) sum += std::uint8_t(bytes[at + i]);
    bytes.replace(at + 148, 6, fmt::format("{:06o}", sum));
  }
  return bytes;
}

}  // namespace

std::string name() { return "tar"; }

void prepare() {}

std::string make_case(RandomStream& random) {
  std::string damaged = damaged_container("tar", random);
  return one_in(random, 3) ? damaged : sealed(std::move(damaged));
}

std::string run_case(const std::string& bytes) {
  read_container("tar", bytes);
  return {};
}

}  // namespace d5::fuzz
