// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>
#include <ctime>
#include <functional>
#include <string>

#include "messages.hpp"

namespace d5::onnx {

/// The error's words; its type is the test's to say. Fails if none came, or if that took the
/// processor long.
template <class E>
std::string refusal(const std::function<void()>& act) {
  const std::clock_t start = std::clock();
  std::string words;
  try {
    act();
    FAIL("nothing was refused");
  } catch (const E& error) {
    words = error.what();
  }
  CHECK(double(std::clock() - start) / CLOCKS_PER_SEC < 2);
  return words;
}

template <class E>
std::string refusal(const ::onnx::ModelProto& message, const LoadOptions& options = {}) {
  const std::string words = refusal<E>([&] { (void)parse_message(message, options); });
  CHECK_THAT(words, Catch::StartsWith("'test.onnx': "));
  return words;
}

}  // namespace d5::onnx
