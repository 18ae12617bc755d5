// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "d5/level1_network/validation/network_reduction.hpp"

namespace d5 {

/// Of what a folder is the reduction.
struct ReductionSubject {
  std::string word;     ///< who differs
  std::string version;  ///< of it
  std::string against = "reference";
  std::string of = {};  ///< a digest of the network, its inputs, what counts; empty: nobody goes on
};
/// `of` of a reduction.
[[nodiscard]] std::string digest_of(const Network& network, const ValueMap& inputs,
                                    const ReductionOptions& options);

/// The file in such a folder that tells how far it came, and what is written into it.
constexpr const char* kReductionJournal = "reduction.json";
[[nodiscard]] std::string journal_of(const ReducedNetwork& reduced,
                                     const ReductionSubject& subject);

/// `save_reduced`, with a journal from which `kept_reduction` goes on, in the place of what that
/// read.
void save_reduction(const ReducedNetwork& reduced, const ReductionSubject& subject,
                    const std::string& folder);
/// Where the reduction came to that left `folder`; nothing where there is no folder. Throws:
/// IoError for a folder that is none's; ValueError for one of another network, framework or
/// version.
[[nodiscard]] std::optional<ReducedNetwork> kept_reduction(const std::string& folder,
                                                           const ReductionSubject& subject);
/// Throws: IoError, for a folder that no reduction left.
void expect_own_folder(const std::string& folder);

}  // namespace d5
