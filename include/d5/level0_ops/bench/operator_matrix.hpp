// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/level0_ops/operator/operator_support.hpp"

namespace d5 {

/// Supported operators of the frameworks `words` ("all" as in `operator_words`), which are loaded;
/// without words, known support of all frameworks found here, and of the loaded ones. Includes
/// custom operators, which run in every framework. Afterwards, `frameworks` lists those that could
/// not be loaded. Throws: NotFound, Unsupported.
///
///     std::cout << operator_matrix(supported_operators({"torch"})).to_text(Format::table);
[[nodiscard]] std::vector<OperatorSupport> supported_operators(
    const std::vector<std::string>& words);

/// A table with one row per operator and one column per framework: "12/12 ∇".
[[nodiscard]] TextTable operator_matrix(const std::vector<OperatorSupport>& rows);
/// A table with all details, one row per entry, for the operator `name`; for all operators if it is
/// empty. Formats for programs list every element type by name. Throws: NotFound.
[[nodiscard]] TextTable operator_rows(const std::vector<OperatorSupport>& rows,
                                      const std::string& name, Format format);

}  // namespace d5
