// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/files/artefact_store.hpp"

namespace d5::detail {

/// Lets this process find manifests of others by their names, behind those that d5 carries. A
/// server keeps them in `folder`: models/NAME.json, datasets/NAME.json, and files by their digests
/// in artefacts/. Empty: none, as at the start. Thread safety: both functions.
void keep_manifests_in(const std::string& folder);
[[nodiscard]] std::string kept_manifests();

/// Whether `file` lies in `kept_manifests`.
[[nodiscard]] bool is_kept(const std::string& file);

/// Path of a manifest that is kept in `folder`, whether it exists or not.
[[nodiscard]] std::string kept_manifest_file(const std::string& folder, const std::string& kind,
                                             const std::string& name);
/// Names of the manifests of a kind in `folder`, in order.
[[nodiscard]] std::vector<std::string> kept_names(const std::string& folder,
                                                  const std::string& kind);
/// The files of the manifests in `folder`.
[[nodiscard]] ArtefactStore kept_store(const std::string& folder);

/// The store that has a file: the user's, or else that of `kept_manifests`; the user's if none has.
[[nodiscard]] ArtefactStore store_of(const std::string& sha256);

}  // namespace d5::detail
