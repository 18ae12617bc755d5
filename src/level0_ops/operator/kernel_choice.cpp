// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/kernel_choice.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

void add_reason(std::string& reasons, std::string_view reason) {
  reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", reason);
}

/// The message without the node's name, which begins the joined message.
std::string_view without(std::string_view who, std::string_view message) {
  if (message.starts_with(who)) message.remove_prefix(who.size());
  if (message.starts_with(": ")) message.remove_prefix(2);
  return message;
}

}  // namespace

PlannedKernel first_kernel(const PlanContext& context,
                           std::span<const OperatorRegistry* const> frameworks,
                           std::string& reasons) {
  for (const OperatorRegistry* framework : frameworks) {
    if (const Support support = framework->supports(context); !support) {
      add_reason(reasons,
                 fmt::format("{} does not support {}", framework->framework(), support.reason));
      continue;
    }
    PlanContext own = context;  // discards the previous framework's requests
    try {
      PlannedKernel result{.kernel = framework->plan(own), .framework = framework};
      result.scratch_bytes = own.scratch_bytes();
      result.saved = own.saved();
      for (std::size_t i = 0; i < own.input_count(); ++i) {
        if (own.accepts_layout(i)) result.accepted_layouts.add(i);
        result.wanted_layouts.push_back(own.wanted_layout(i));
      }
      for (std::size_t k = 0; k < own.output_count(); ++k) {
        result.arrangements.push_back(own.arrangement(k));
      }
      return result;
    } catch (const Unsupported& error) {
      add_reason(reasons, fmt::format("{}: {}", framework->framework(),
                                      without(context.who(), error.what())));
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {  // from a framework's library, without the node's name
      throw ValueError(fmt::format("{}: {} cannot plan it: {}", context.who(),
                                   framework->framework(), printable_message(error.what())));
    }
  }
  return {};
}

PlannedKernel first_kernel(const PlanContext& context,
                           std::span<const OperatorRegistry* const> frameworks) {
  std::string reasons;
  PlannedKernel result = first_kernel(context, frameworks, reasons);
  if (!result.kernel) throw Unsupported(fmt::format("{}: {}", context.who(), reasons));
  return result;
}

}  // namespace d5
