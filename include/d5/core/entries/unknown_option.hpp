// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/errors/error.hpp"

namespace d5 {

/// A setting that is none of its owner's options; the message has the nearest. In Python it is a
/// TypeError, too, because options are keywords there.
class UnknownOption : public NotFound {
 public:
  using NotFound::NotFound;
};

}  // namespace d5
