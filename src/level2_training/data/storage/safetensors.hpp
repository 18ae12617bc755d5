// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// The two parts of a safetensors file after its first 8 bytes, the header's length.
struct SafetensorsParts {
  static constexpr std::size_t kPrefix = 8;
  std::string_view header, data;
};

/// `who` begins messages: "checkpoint 'run.d5'"; `kind` is the expected kind of file.
/// Throws: FormatError for a truncated file.
[[nodiscard]] SafetensorsParts split_safetensors(std::string_view file, const std::string& who,
                                                 std::string_view kind);

/// A file of named tensors; their bytes are not copied.
/// Source: the safetensors format, https://github.com/huggingface/safetensors.
struct Safetensors {
  struct Stored {
    std::string name;
    TensorDesc desc;
    std::string_view bytes;  ///< contents, of the size that `desc` implies
  };
  std::map<std::string, std::string> metadata;
  std::vector<Stored> tensors;  ///< in the order of their bytes
};

/// Throws: FormatError for a malformed header, and for tensors that do not fill the data one after
/// the other.
[[nodiscard]] Safetensors read_safetensors(const SafetensorsParts& parts, const std::string& who);

/// Number of tensor bytes that a header promises. Throws: what the JSON parser throws.
[[nodiscard]] std::size_t safetensors_bytes(std::string_view header);

/// Whether a file holds tensors of this element type.
[[nodiscard]] bool fits_safetensors(DType dtype);

/// Name and type of a tensor to write.
struct TensorName {
  std::string name;
  TensorDesc desc;
};

/// Beginning of a file, up to the tensors' bytes, which follow in this order without gaps.
/// Throws: Unsupported for a type that the format lacks.
[[nodiscard]] std::string safetensors_begin(const std::map<std::string, std::string>& metadata,
                                            std::span<const TensorName> tensors,
                                            const std::string& who);

}  // namespace d5::detail
