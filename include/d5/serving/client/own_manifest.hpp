// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5 {

/// A manifest of one's own, ready to be kept by a server, with its files on this machine.
struct OwnManifest {
  std::string kind;                               ///< "model", "dataset"
  std::string name;                               ///< its name on the server
  std::string reference;                          ///< NAME@VERSION
  std::string text;                               ///< JSON, without the places of its files
  std::map<std::string, std::string> files = {};  ///< paths of those that are here, by SHA-256
  bool is_described = false;  ///< made from a network or a folder, so that parts are guesses
};

/// The manifests that a word names: that of a model or a data set; of an ONNX file or a folder of
/// samples, as `described_model` and `described_folder` write it. Data sets that a model's claims
/// name by path come before it.
///
/// Files are searched at their addresses on this machine, beside the manifest, in the data's folder
/// and among the artefacts. Throws: NotFound; FormatError with all faults, also for what names code
/// or another place of this machine; as both functions.
[[nodiscard]] std::vector<OwnManifest> own_manifests(const std::string& word,
                                                     const Interrupt& interrupt = {});

}  // namespace d5
