// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "d5/serving/inference/inference_message.hpp"

namespace d5::detail {

/// The header with `InferenceBody::head`.
inline constexpr const char* kHeadLength = "Inference-Header-Content-Length";

/// The body of a message of the Open Inference Protocol over HTTP: JSON, and behind it the tensors
/// that are sent as bytes, one after the other.
///
/// Source: KServe v2, "HTTP/REST"; Triton, "Binary Tensor Data Extension".
struct InferenceBody {
  std::string bytes;
  std::size_t head = 0;  ///< number of leading bytes that are JSON
  [[nodiscard]] bool is_json() const { return head == bytes.size(); }
};

/// Outputs to return as bytes behind the JSON.
struct BinaryWishes {
  bool by_default = false;
  std::map<std::string, bool> of = {};
  [[nodiscard]] bool wanted(const std::string& output) const;
};

/// Reads a request whose first `head` bytes are JSON. The model and its version are in the URL, not
/// in the body.
/// Throws: FormatError for a body that is not a request; ShapeError, TypeError, ValueError,
/// NotFound for an input whose shape, type and data do not agree, with its name; MemoryError.
[[nodiscard]] InferenceRequest read_request(std::string_view body, std::size_t head,
                                            BinaryWishes& wishes);
/// Writes all tensors as bytes, and requests the outputs as bytes.
[[nodiscard]] InferenceBody write_request(const InferenceRequest& request);

/// Throws: ValueError for values without a JSON representation: NaN, infinity, invalid UTF-8,
/// float16.
[[nodiscard]] InferenceBody write_response(const InferenceResponse& response,
                                           const BinaryWishes& wishes);
/// Throws: as `read_request`.
[[nodiscard]] InferenceResponse read_response(std::string_view body, std::size_t head);

}  // namespace d5::detail
