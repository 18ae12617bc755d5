// SPDX-License-Identifier: Apache-2.0
#include "status.hpp"

#include <string_view>

#include "d5/core/errors/error.hpp"

namespace d5::tensorflow {
namespace {

std::string says(const std::string& who, const TF_Status* status) {
  return who + ": TensorFlow says: " + TF_Message(status);
}

}  // namespace

void Status::expect_supported(const std::string& who) const {
  if (!ok()) throw Unsupported(says(who, status_.get()));
}

void Status::complain(const std::string& who) const {
  switch (TF_GetCode(status_.get())) {
    case TF_RESOURCE_EXHAUSTED:
      throw MemoryError(says(who, status_.get()));
    case TF_UNIMPLEMENTED:
    case TF_NOT_FOUND:
    case TF_ABORTED:  // oneDNN within it has no primitive for this
      throw Unsupported(says(who, status_.get()));
    default:
      // A session reports this only in this way.
      if (std::string_view(TF_Message(status_.get())).starts_with("No OpKernel was registered")) {
        throw Unsupported(says(who, status_.get()));
      }
      throw ValueError(says(who, status_.get()));
  }
}

}  // namespace d5::tensorflow
