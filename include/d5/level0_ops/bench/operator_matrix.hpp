// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/level0_ops/operator/operator_support.hpp"

namespace d5 {

/// What the frameworks called `words` have ("all" as in `operator_words`), which are loaded for it;
/// without words what is known of all that were found here, and of those that are loaded. With
/// operators of the user's own, which run in every framework. `frameworks` says afterwards what
/// could not be loaded. Throws: NotFound, Unsupported.
///
///     std::cout << operator_matrix(supported_operators({"torch"})).to_text(Format::table);
[[nodiscard]] std::vector<OperatorSupport> supported_operators(
    const std::vector<std::string>& words);

/// A row an operator, a column a framework: "12/12 ∇".
[[nodiscard]] TextTable operator_matrix(const std::vector<OperatorSupport>& rows);
/// A row each, with all that is known; of the operator `name` alone, or of all for an empty one.
/// Programs (`format`) get every element type by its name. Throws: NotFound.
[[nodiscard]] TextTable operator_rows(const std::vector<OperatorSupport>& rows,
                                      const std::string& name, Format format);

}  // namespace d5
