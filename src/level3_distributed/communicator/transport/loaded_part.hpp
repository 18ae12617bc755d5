// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <memory>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {

/// The framework for processes started by a launcher.
inline constexpr const char* kTransportFramework = "mpi";

/// A part of the framework that has the transport; `what` describes it in messages.
/// Throws: Unsupported with the reason why there is none.
template <class Part>
Part& loaded_part(const char* what) {
  try {
    auto& part = framework(kTransportFramework).part<std::unique_ptr<Part>>();
    if (part) return *part;
  } catch (const NotFound&) {
    throw Unsupported(fmt::format("no framework '{}' is among the plug-ins", kTransportFramework));
  }
  throw Unsupported(fmt::format("the framework '{}' has no {}", kTransportFramework, what));
}

}  // namespace d5::detail
