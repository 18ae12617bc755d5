// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// The manifest of a model that is an ONNX file, as YAML: its digest and size, its inputs and
/// outputs with types and shapes of one sample. What the file does not say is a guess, marked as
/// one: the steps that make an input of an image, and that scores are answered by their best
/// classes. Task and licence are to be filled in.
///
/// `name` as a manifest's name may be; empty: the file's.
///
///     write_file("mine.yaml", described_model("mine.onnx"));
///
/// Throws: IoError, FormatError for no ONNX file; Unsupported for one whose weights lie in another,
/// and for inputs that are no tensors.
[[nodiscard]] std::string described_model(const std::string& file, const std::string& name = "");

}  // namespace d5
