// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/system_choice.hpp"

#include <fmt/format.h>

#include "d5/core/results/environment.hpp"
#include "evaluation/manifest/system_fit.hpp"

namespace d5::detail {
namespace {

void skip(WorkPiece& piece, const std::string& why_not, const EvaluateOptions& options) {
  Measurement record = piece.record;
  record.status = Status::skipped;
  record.reason = why_not;
  piece.run = [record, name = piece.name, &options](const std::function<void()>&) {
    if (options.sink) options.sink->measurements(options.run, name, {&record, 1});
    return std::vector{record};
  };
}

}  // namespace

SystemChoice choose_system(const std::vector<FoundManifest<SystemManifest>>& systems) {
  SystemChoice choice;
  if (systems.empty()) return choice;
  const Environment machine = environment();
  for (const auto& one : systems) {
    const std::string why_not = why_unfit(one.manifest, machine);
    if (why_not.empty()) return {.system = &one.manifest};
    choice.why_not += fmt::format("{}not {}: {}", choice.why_not.empty() ? "" : "; ",
                                  one.manifest.reference(), why_not);
  }
  return choice;
}

Conditions told_of(const SystemChoice& choice, const EvaluateOptions& options) {
  Conditions told;
  double price = options.price_per_hour;
  std::string currency = options.currency;
  if (choice.system) {
    told["system"] = identity(choice.system->reference());
    if (choice.system->price_per_hour > 0) {
      price = choice.system->price_per_hour;
      currency = choice.system->currency;
    }
  }
  if (price > 0) {
    told["price_per_hour"] = finding(price);
    told["currency"] = finding(currency);
  }
  return told;
}

void skip_all(const std::string& why_not, const EvaluateOptions& options,
              std::vector<WorkPiece>& pieces) {
  for (WorkPiece& piece : pieces) skip(piece, why_not, options);
}

}  // namespace d5::detail
