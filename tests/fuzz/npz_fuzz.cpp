// SPDX-License-Identifier: Apache-2.0
// Zip archives of NumPy arrays that are damaged: refused, or read to their end.
#include "fuzz/container_damage.hpp"
#include "fuzz/fuzzer.hpp"

namespace d5::fuzz {

std::string name() { return "npz"; }

void prepare() {}

std::string make_case(RandomStream& random) { return damaged_container("npz", random); }

std::string run_case(const std::string& bytes) {
  read_container("npz", bytes);
  return {};
}

}  // namespace d5::fuzz
