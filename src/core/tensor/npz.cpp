// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/npz.hpp"

#include <fmt/format.h>

#include "core/files/zip.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/tensor/npy.hpp"

namespace d5 {

std::map<std::string, Tensor> read_npz(const std::string& path, const Interrupt& interrupt) {
  constexpr std::size_t kMostBytes = std::size_t{8} << 30;
  constexpr std::string_view kExtension = ".npy";
  const std::string archive = read_file(path, kMostBytes);
  std::map<std::string, Tensor> arrays;
  for (auto& [name, bytes] : detail::read_zip(archive, path, memory_budget(), interrupt)) {
    if (!name.ends_with(kExtension)) continue;
    const std::string array = name.substr(0, name.size() - kExtension.size());
    const auto [place, fresh] = arrays.emplace(array, parse_npy(bytes, path + "/" + name));
    if (!fresh) {
      throw FormatError(fmt::format("'{}' has array '{}' twice; write it again with numpy.savez",
                                    printable(path), printable(array)));
    }
    bytes = {};
  }
  return arrays;
}

}  // namespace d5
