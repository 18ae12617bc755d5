// SPDX-License-Identifier: Apache-2.0
#include "lease.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "d5/core/errors/error.hpp"

namespace d5::python {
namespace {

/// Leases that may still hold, by lender. Guarded by the GIL.
std::unordered_map<const void*, SharedLease>& given_leases() {
  static std::unordered_map<const void*, SharedLease> all;
  return all;
}

}  // namespace

void Lease::throw_over() const {
  throw ValueError(
      fmt::format("it was lent by {}, and its memory is used again by now; keep a copy: "
                  "tensor.copy(), tensor.numpy().copy()",
                  what_));
}

SharedLease lease_until_next_use(const void* object, const char* what) {
  auto& all = given_leases();
  if (const auto place = all.find(object); place != all.end()) return place->second;
  // Drops the leases of objects that were destroyed: what they lent cannot be reached any more.
  std::erase_if(all, [](const auto& one) { return one.second.use_count() == 1; });
  return all[object] = std::make_shared<Lease>(what);
}

void end_lease_of(const void* object) {
  const auto place = given_leases().find(object);
  if (place == given_leases().end()) return;
  place->second->end();
  given_leases().erase(place);
}

}  // namespace d5::python
