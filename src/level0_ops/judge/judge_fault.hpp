// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

/// A fault of a judged source: its name in the condition "fault", and the message.
class JudgeFault : public Error {
 public:
  JudgeFault(std::string name, const std::string& message)
      : Error(name + ": " + message), name_(std::move(name)) {}
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
};

/// Outputs that differ from the expected ones.
class WrongAnswer : public JudgeFault {
  using JudgeFault::JudgeFault;
};

}  // namespace d5::detail
