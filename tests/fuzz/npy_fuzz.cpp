// SPDX-License-Identifier: Apache-2.0
// NumPy arrays that are damaged: refused, or read to their end.
#include "fuzz/container_damage.hpp"
#include "fuzz/fuzzer.hpp"

namespace d5::fuzz {

std::string name() { return "npy"; }

void prepare() {}

std::string make_case(RandomStream& random) { return damaged_container("npy", random); }

std::string run_case(const std::string& bytes) {
  read_container("npy", bytes);
  return {};
}

}  // namespace d5::fuzz
