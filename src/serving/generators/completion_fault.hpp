// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/serving/http/http_message.hpp"

namespace d5::detail {

/// How a refusal is told to programs.
struct RefusalWords {
  int status = 400;
  std::string code = {};  ///< "model_not_found"
};

/// A refused request of OpenAI's interface.
class CompletionFault : public ValueError {
 public:
  /// `param`: the member of the request; empty: none.
  explicit CompletionFault(const std::string& message, std::string param = {},
                           RefusalWords words = {})
      : ValueError(message), param_(std::move(param)), words_(std::move(words)) {}
  [[nodiscard]] const std::string& param() const { return param_; }
  [[nodiscard]] const RefusalWords& words() const { return words_; }

 private:
  std::string param_;
  RefusalWords words_;
};

/// {"error": {"message", "type", "param", "code"}}. Other errors have the status of
/// `http_status_of`, but 400 for 422.
[[nodiscard]] HttpResponse openai_error(const std::exception& error);
/// The body alone.
[[nodiscard]] std::string openai_error_text(const std::exception& error);
/// A problem (`HttpResponse::problem`) in that form, with its headers.
[[nodiscard]] HttpResponse openai_error_of_problem(HttpResponse problem);

}  // namespace d5::detail
