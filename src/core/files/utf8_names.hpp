// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <locale.h>

namespace d5::detail {

/// While it lives, names of files in this thread are UTF-8 for libarchive, whatever the
/// environment says: in the locale "C" it calls an archive with others damaged.
///
///     const Utf8Names names;
///     archive_read_next_header(...);
class Utf8Names {
 public:
  Utf8Names() : utf8_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{})) {
    if (utf8_) before_ = ::uselocale(utf8_);
  }
  ~Utf8Names() {
    if (!utf8_) return;  // an old C library: names are what the environment makes of them
    ::uselocale(before_);
    ::freelocale(utf8_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t utf8_, before_ = {};
};

}  // namespace d5::detail
