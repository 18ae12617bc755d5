// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/level0_ops/operator_case.hpp"
#include "d5/level0_ops/operator_validation.hpp"

namespace d5::app {

/// The cases that a command line names: each word is a case, or a file of cases. A case that was
/// not quoted, and so came as several words, is put together again. Throws: FormatError, IoError.
[[nodiscard]] std::vector<OperatorCase> read_case_words(const std::vector<std::string>& words,
                                                        std::uint64_t seed);

}  // namespace d5::app
