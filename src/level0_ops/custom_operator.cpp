// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/custom_operator.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "d5/core/error.hpp"
#include "level0_ops/c_operator.hpp"

namespace d5 {

std::vector<std::string> load_custom_operators(const std::string& library_path,
                                               OperatorRegistry& registry) {
  const std::string who = fmt::format("custom operators '{}'", printable(library_path));
  void* library = dlopen(library_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw IoError(fmt::format("{}: {}", who, dlerror()));
  using Entry = const d5_operator_table* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "d5_custom_operators"));
  const d5_operator_table* table = entry ? entry() : nullptr;
  if (!table || table->abi_version != D5_ABI_VERSION) {
    const std::string found = !entry   ? "exports no d5_custom_operators"
                              : !table ? "has no table of operators"
                                       : fmt::format("is of ABI version {}", table->abi_version);
    dlclose(library);
    throw Unsupported(
        fmt::format("{}: the library {}, expected one built against d5/abi.h of "
                    "version {}",
                    who, found, D5_ABI_VERSION));
  }
  std::vector<std::string> names;
  const auto* entries = reinterpret_cast<const std::byte*>(table->operators);
  for (std::size_t i = 0; i < table->operator_count; ++i) {
    d5_operator op{};  // what another edition of this version lacks is null
    std::memcpy(&op, entries + i * table->operator_size, std::min(sizeof op, table->operator_size));
    if (!op.domain || !op.name || !op.infer || !op.forward) {
      throw Unsupported(
          fmt::format("{}: operator {} lacks a domain, a name, infer or forward", who, i));
    }
    const int until = op.until_version > 0 ? op.until_version : std::numeric_limits<int>::max();
    registry.add(op.name, {.since = op.since_version, .until = until, .domain = op.domain},
                 [op](const onnx::Node& node) { return detail::make_c_operator(op, node); });
    names.push_back(*op.domain ? fmt::format("{}.{}", op.domain, op.name) : op.name);
  }
  return names;
}

}  // namespace d5
