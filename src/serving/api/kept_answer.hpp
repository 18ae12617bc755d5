// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/serving/api/serving_context.hpp"
#include "d5/serving/http/http_message.hpp"

namespace d5::detail {

/// Keeps the manifest in the body, of a model or a data set: 201, or 200 if it is kept already. 409
/// lists files to upload first, or says why it cannot be kept.
[[nodiscard]] HttpResponse keep_answer(const std::string& kind, const HttpRequest& request,
                                       ServingContext& context);
/// Removes the manifest that the address names, unless a job that is not over needs it.
[[nodiscard]] HttpResponse forget_answer(const std::string& kind, const HttpRequest& request,
                                         ServingContext& context);

/// Throws: Unsupported if the server takes no models.
[[nodiscard]] KeptModels& expect_kept(const ServingContext& context);

}  // namespace d5::detail
