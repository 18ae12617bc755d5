// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <locale.h>

namespace d5::detail {

/// Makes libarchive use UTF-8 for file names in this thread while it lives, regardless of the
/// environment: in the locale "C", libarchive reports archives with other names as damaged.
///
///     const Utf8Names names;
///     archive_read_next_header(...);
class Utf8Names {
 public:
  Utf8Names() : utf8_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{})) {
    if (utf8_) before_ = ::uselocale(utf8_);
  }
  ~Utf8Names() {
    if (!utf8_) return;  // an old C library: names depend on the environment
    ::uselocale(before_);
    ::freelocale(utf8_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t utf8_, before_ = {};
};

}  // namespace d5::detail
