// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// The two parts of a safetensors file behind its first 8 bytes, which are the header's length.
struct SafetensorsParts {
  static constexpr std::size_t kPrefix = 8;
  std::string_view header, data;
};

/// `who` begins messages: "checkpoint 'run.d5'"; `kind` is what the file should be.
/// Throws: FormatError for a file that is shorter than it says.
[[nodiscard]] SafetensorsParts split_safetensors(std::string_view file, const std::string& who,
                                                 std::string_view kind);

/// A file of named tensors, whose bytes stay where they are.
/// Source: the safetensors format, https://github.com/huggingface/safetensors.
struct Safetensors {
  struct Stored {
    std::string name;
    TensorDesc desc;
    std::string_view bytes;  ///< as many as `desc` says
  };
  std::map<std::string, std::string> metadata;
  std::vector<Stored> tensors;  ///< in the order of their bytes
};

/// Throws: FormatError for a header that breaks the format, or promises what the data do not hold.
[[nodiscard]] Safetensors read_safetensors(const SafetensorsParts& parts, const std::string& who);

/// How many bytes of tensors a header promises. Throws: whatever JSON does.
[[nodiscard]] std::size_t safetensors_bytes(std::string_view header);

/// Whether a file holds tensors of this element type.
[[nodiscard]] bool fits_safetensors(DType dtype);

/// Of a tensor to be written.
struct TensorName {
  std::string name;
  TensorDesc desc;
};

/// What stands in a file before the tensors' bytes, which follow in this order without a gap.
/// Throws: Unsupported for a type that the format lacks.
[[nodiscard]] std::string safetensors_begin(const std::map<std::string, std::string>& metadata,
                                            std::span<const TensorName> tensors,
                                            const std::string& who);

}  // namespace d5::detail
