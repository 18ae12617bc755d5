// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace d5 {

/// Base of everything that d5 throws for bad input. A message names the subject, the given value,
/// the expected one and a remedy: `Gemm 'fc1': A is 3x4 but B is 5x2; the inner sizes must agree`.
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

/// An unknown name.
class NotFound : public Error {
  using Error::Error;
};

/// A well-formed request that this part of d5 does not support.
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

/// An allocation that would exceed the memory budget, refused in advance.
class MemoryError : public Error {
  using Error::Error;
};

/// A computation whose result is meaningless, such as a NaN loss.
class NumericError : public Error {
  using Error::Error;
};

/// A device that failed: a copy, a kernel.
class DeviceError : public Error {
  using Error::Error;
};

/// A component that violated its interface's contract, such as a kernel that wrote past its memory.
class ContractError : public Error {
  using Error::Error;
};

/// A failure of communication between ranks.
class CommunicationError : public Error {
  using Error::Error;
};

/// `name` with quotes, control characters and bytes that are not UTF-8 escaped, cut after about 200
/// bytes. Safe to print for any content of a file.
[[nodiscard]] std::string printable(std::string_view name);
/// A whole message with control characters and bytes that are not UTF-8 escaped: the names in it
/// are `printable` already.
[[nodiscard]] std::string printable_message(std::string_view message);

}  // namespace d5
