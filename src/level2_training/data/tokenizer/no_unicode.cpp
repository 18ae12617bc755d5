// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "level2_training/data/tokenizer/unicode.hpp"

namespace d5::detail {
namespace {

[[noreturn]] void refuse_without_icu() {
  throw Unsupported(
      "tokenizer bpe: this d5 was built without ICU, which knows letters and digits: install "
      "libicu-dev and build it again, or use the tokenizer 'bytes'");
}

}  // namespace

const std::vector<CharacterClass>& character_classes() { refuse_without_icu(); }

std::string in_normal_form(NormalForm, std::string_view) { refuse_without_icu(); }

}  // namespace d5::detail
