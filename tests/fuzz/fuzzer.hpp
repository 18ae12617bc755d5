// SPDX-License-Identifier: Apache-2.0
// A fuzzer is one file <name>_fuzz.cpp that defines these functions. `driver.cpp` has `main`.
#pragma once

#include <string>

#include "d5/core/tensor/random.hpp"

namespace d5::fuzz {

/// "node": the file's stem without "_fuzz".
[[nodiscard]] std::string name();

/// Called once, before the processes start that run cases: loads what all of them need.
void prepare();

/// A case: the bytes of a file, or a line. Depends on `random` alone.
[[nodiscard]] std::string make_case(RandomStream& random);

/// Runs a case. Returns what is wrong with the answer, or nothing. Throws: d5::Error where the case
/// is refused, which is an answer too; a ContractError and whatever is no d5::Error are none.
[[nodiscard]] std::string run_case(const std::string& bytes);

}  // namespace d5::fuzz
