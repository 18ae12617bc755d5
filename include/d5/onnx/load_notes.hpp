// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace d5::onnx {

/// What a file leaves out, or says otherwise than ONNX asks, and what it is read as:
/// "its graph has no name; it is called 'graph'". docs/reference/file_formats.md lists them.
///
///     listen_to_notes([](const std::string& file, const std::string& note) {
///       std::cerr << file << ": " << note << '\n';
///     });
using NoteListener = std::function<void(const std::string& file, const std::string& note)>;

/// Has `listener` called for each note of each file that is loaded from then on, in the thread that
/// loads it. It takes the place of the one before; an empty one, as at the start, hears nothing.
/// What it throws ends the loading. Thread safety: any thread.
void listen_to_notes(NoteListener listener);

}  // namespace d5::onnx
