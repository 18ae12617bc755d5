// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "d5/level1_network/validation/network_reduction.hpp"

namespace d5 {

/// Subject of a reduction, to identify its folder.
struct ReductionSubject {
  std::string word;     ///< the framework that differs
  std::string version;  ///< its version
  std::string against = "reference";
  std::string of = {};  ///< digest of the network, its inputs and what counts; empty: not resumable
};
/// `of` of a reduction.
[[nodiscard]] std::string digest_of(const Network& network, const ValueMap& inputs,
                                    const ReductionOptions& options);

/// The file in such a folder with the progress, and its content.
constexpr const char* kReductionJournal = "reduction.json";
[[nodiscard]] std::string journal_of(const ReducedNetwork& reduced,
                                     const ReductionSubject& subject);

/// `save_reduced` with a journal for `kept_reduction`; replaces the folder that was read.
void save_reduction(const ReducedNetwork& reduced, const ReductionSubject& subject,
                    const std::string& folder);
/// The result of the reduction that left `folder`; empty if there is no folder.
/// Throws: IoError for a folder of something else; ValueError for one of another network, framework
/// or version.
[[nodiscard]] std::optional<ReducedNetwork> kept_reduction(const std::string& folder,
                                                           const ReductionSubject& subject);
/// Throws: IoError for a folder that is not from a reduction.
void expect_own_folder(const std::string& folder);

}  // namespace d5
