// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/text_table.hpp"
#include "d5/level1_network/network_summary.hpp"

namespace d5::app {

/// A row a fact: its inputs and outputs, its opsets, the size of its parameters. `model` is what it
/// was opened by.
[[nodiscard]] TextTable facts_table(Network& network, const NetworkSummary& summary,
                                    const std::string& model, const OpenSizes& sizes);

/// Layers where there are many nodes, and the nodes' names tell layers.
[[nodiscard]] SummaryBy usual_parts(const NetworkSummary& summary);

/// The summary's table, with a column for each of `frameworks`, words of `NodeSupport`: whether it
/// has each part's operators; for programs, with the names of a node's tensors, which make lines
/// too long for people. Throws: what `NodeSupport` throws.
[[nodiscard]] TextTable parts_table(const Network& network, const NetworkSummary& summary,
                                    SummaryBy by, const std::vector<std::string>& frameworks,
                                    Format format);

}  // namespace d5::app
