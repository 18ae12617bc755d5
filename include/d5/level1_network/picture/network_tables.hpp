// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/level1_network/picture/network_summary.hpp"

namespace d5 {

/// Facts about a network, one per row: inputs and outputs, opsets, size of the parameters. `model`
/// is the word that it was opened by; `sizes` are those of its summary.
[[nodiscard]] TextTable facts_table(Network& network, const NetworkSummary& summary,
                                    const std::string& model, const OpenSizes& sizes = {});

/// Default grouping: layers if there are many nodes and their names have layers, otherwise nodes.
[[nodiscard]] SummaryBy usual_parts(const NetworkSummary& summary);

/// Table of a summary, with one column for each of `frameworks` (words of `NodeSupport`): whether
/// it supports each part's operators, or why not. In formats for programs, by node, the names of
/// each node's tensors are added.
///
///     parts_table(network, summary, SummaryBy::layer, {"torch", "onednn+reference"});
///
/// Throws: what `NodeSupport` throws.
[[nodiscard]] TextTable parts_table(const Network& network, const NetworkSummary& summary,
                                    SummaryBy by, const std::vector<std::string>& frameworks,
                                    Format format = Format::table);

}  // namespace d5
