// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace d5 {

/// Base of everything that d5 throws for bad input. A message says who, what was given, what was
/// expected, and a way out: `Gemm 'fc1': A is 3x4 but B is 5x2; the inner sizes must agree`.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Sizes that do not fit each other.
class ShapeError : public Error {
  using Error::Error;
};

/// An element type or a kind of value that is not accepted here.
class TypeError : public Error {
  using Error::Error;
};

/// A number or word outside its range: an attribute, an option, an index.
class ValueError : public Error {
  using Error::Error;
};

/// A name that nothing answers to.
class NotFound : public Error {
  using Error::Error;
};

/// A request that is well formed, but that this part of d5 cannot do.
class Unsupported : public Error {
  using Error::Error;
};

/// A file that cannot be read or written.
class IoError : public Error {
  using Error::Error;
};

/// A file whose content breaks its format's rules.
class FormatError : public Error {
  using Error::Error;
};

/// An allocation that would exceed the memory budget, refused before it was made.
class MemoryError : public Error {
  using Error::Error;
};

/// A computation that left the numbers that mean something, such as a NaN loss.
class NumericError : public Error {
  using Error::Error;
};

/// A device that failed: a copy, a kernel.
class DeviceError : public Error {
  using Error::Error;
};

/// A part that broke the rules of its interface: a kernel that wrote past its memory.
class ContractError : public Error {
  using Error::Error;
};

/// A failure between ranks.
class CommunicationError : public Error {
  using Error::Error;
};

/// `name` with quotes, control characters and bytes that are not UTF-8 escaped, cut after about 200
/// bytes: safe to print whatever a file held.
[[nodiscard]] std::string printable(std::string_view name);
/// A whole message with control characters and bytes that are not UTF-8 escaped: the names in it
/// are `printable` already.
[[nodiscard]] std::string printable_message(std::string_view message);

}  // namespace d5
