// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/case_runner.hpp"

namespace d5::conformance {

/// Test folders by name: "node/test_abs", and "older/node/test_abs" of an older release.
using Cases = std::map<std::string, std::string>;
/// Results of cases, by name.
using Outcomes = std::map<std::string, Result>;

/// The test folders in `newest` and in `older`, which may be empty.
[[nodiscard]] Cases find_cases(const std::string& newest, const std::string& older);

/// Expected results of every case on one framework: a file with the outcomes other than a plain
/// pass.
///
///     # ...                                            a comment
///     passed: 1844 of 2036, names 01234567         all of the newest release that pass
///     passed of older: 1021 of 1072, names 89abcdef     of the older one
///     without: Loop Scan                               each case whose model holds one of these is
///                                                      "unsupported: operator Loop" by its first
///     failed: why                                      the outcome of all that stand below it
///       node/test_a node/test_b
///
/// The names in the head are a digest of those that pass: a table whose cases are not those of the
/// folders says so.
struct CaseTable {
  Outcomes expected;                ///< by case, for all cases
  std::vector<std::string> faults;  ///< mismatches of file and cases, one line each
  bool has_older = false;
};

/// A table of `cases`; without those of the older release its rows are passed over.
/// Throws: IoError, FormatError.
[[nodiscard]] CaseTable read_table(const std::string& path, const Cases& cases);
/// `outcomes` has all of `cases`, and those alone.
void write_table(const std::string& path, const std::string& framework, const Cases& cases,
                 const Outcomes& outcomes);

}  // namespace d5::conformance
