// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/level2_training/data/tokenizer.hpp"

namespace d5 {

/// Decodes token by token, in whole characters: the bytes of an unfinished one, at most three, wait
/// for the next token. Bytes that are not UTF-8 pass as they are. All pieces together are what
/// `Tokenizer::decode` returns.
///
///     DecodedStream stream(tokenizer);
///     for (TokenId id : generated) std::cout << stream.next(id);
///     std::cout << stream.rest();
class DecodedStream {
 public:
  explicit DecodedStream(std::shared_ptr<const Tokenizer> tokenizer);

  /// Bytes that this token completes; possibly none. Throws: ValueError for an id that is no token.
  [[nodiscard]] std::string next(TokenId id);
  /// What is still held back; the stream begins again.
  [[nodiscard]] std::string rest();

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::string held_;
};

}  // namespace d5
