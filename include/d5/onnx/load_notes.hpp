// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace d5::onnx {

/// Receives notes on tolerated deviations of a file from the ONNX standard, and how they are read:
/// "its graph has no name; it is called 'graph'". docs/reference/file_formats.md lists them.
///
///     listen_to_notes([](const std::string& file, const std::string& note) {
///       std::cerr << file << ": " << note << '\n';
///     });
using NoteListener = std::function<void(const std::string& file, const std::string& note)>;

/// Sets the listener for the notes of all files that are loaded from now on, called in the loading
/// thread. Replaces the previous listener; an empty one, the default, receives nothing. An
/// exception of the listener ends the loading.
/// Thread safety: all threads.
void listen_to_notes(NoteListener listener);

}  // namespace d5::onnx
