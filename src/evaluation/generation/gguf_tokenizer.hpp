// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level2_training/data/tokenizer.hpp"
#include "evaluation/generation/gguf_file.hpp"

namespace d5::detail {

/// The byte-level BPE in a file's metadata. Throws: FormatError; Unsupported for another kind.
[[nodiscard]] std::shared_ptr<const Tokenizer> gguf_tokenizer(const GgufFile& file);

}  // namespace d5::detail
