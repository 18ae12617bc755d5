// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// Writes the manifest (YAML) of a model for an ONNX file: its digest and size, its inputs and
/// outputs with the types and shapes of one sample. The rest is a guess, and marked as such:
/// preprocessing steps from an image, and top classes as the answer to scores. Fill in task and
/// licence.
///
/// `name`: a valid manifest name; empty: the file's.
///
///     write_file("mine.yaml", described_model("mine.onnx"));
///
/// Throws: IoError; FormatError if it is no ONNX file; Unsupported for weights in another file, and
/// for what an evaluation cannot feed or read: no tensor, no shape, or samples that are not its
/// first dimension.
[[nodiscard]] std::string described_model(const std::string& file, const std::string& name = "");

}  // namespace d5
