// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/level1_network/picture/network_summary.hpp"

namespace d5 {

/// What a network is, a row a fact: its inputs and outputs, its opsets, the size of its parameters.
/// `model` is the word that it was opened by; `sizes` those of its summary.
[[nodiscard]] TextTable facts_table(Network& network, const NetworkSummary& summary,
                                    const std::string& model, const OpenSizes& sizes = {});

/// What to show where nobody asked: layers where there are many nodes and their names tell layers,
/// otherwise nodes.
[[nodiscard]] SummaryBy usual_parts(const NetworkSummary& summary);

/// The table of a summary, with a column for each of `frameworks`, words of `NodeSupport`: whether
/// it has each part's operators, or why not. For programs, by node, with the names of each node's
/// tensors, which make lines too long for people.
///
///     parts_table(network, summary, SummaryBy::layer, {"torch", "onednn+reference"});
///
/// Throws: what `NodeSupport` throws.
[[nodiscard]] TextTable parts_table(const Network& network, const NetworkSummary& summary,
                                    SummaryBy by, const std::vector<std::string>& frameworks,
                                    Format format = Format::table);

}  // namespace d5
