// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/told_error.hpp"

#include <array>
#include <string_view>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

struct ErrorKind {
  std::string_view name;
  bool (*is)(const std::exception&);
  void (*raise)(const std::string&);
};

template <class Kind>
constexpr ErrorKind kind_named(std::string_view name) {
  return {name,
          [](const std::exception& error) { return dynamic_cast<const Kind*>(&error) != nullptr; },
          [](const std::string& words) { throw Kind(words); }};
}

constexpr std::array kKinds{
    kind_named<ShapeError>("shape"),        kind_named<TypeError>("type"),
    kind_named<ValueError>("value"),        kind_named<NotFound>("not found"),
    kind_named<Unsupported>("unsupported"), kind_named<IoError>("io"),
    kind_named<FormatError>("format"),      kind_named<MemoryError>("memory"),
    kind_named<NumericError>("numeric"),    kind_named<DeviceError>("device"),
    kind_named<ContractError>("contract"),  kind_named<CommunicationError>("communication"),
};

}  // namespace

ToldError told(const std::exception& error) {
  for (const ErrorKind& kind : kKinds) {
    if (kind.is(error)) return {std::string(kind.name), error.what()};
  }
  return {"", error.what()};
}

void throw_again(const ToldError& error) {
  for (const ErrorKind& kind : kKinds) {
    if (kind.name == error.kind) kind.raise(error.words);
  }
  throw Error(error.words);
}

}  // namespace d5::detail
