// SPDX-License-Identifier: Apache-2.0
// Encodes texts for an outside judge.
//
//   tokenizer_ids NAME [OPTION=VALUE ...] < TEXTS
//
// Standard input has each text after a line with its number of bytes. A line of ids is written for
// each, and on standard error the seconds of all calls of `encode`. Exit status 1 where the ids do
// not decode to the text, with --lossless.
#include <chrono>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/tokenizer.hpp"

namespace {

std::vector<std::string> read_texts(std::istream& in) {
  std::vector<std::string> texts;
  for (std::string line; std::getline(in, line);) {
    std::string text(std::stoull(line), '\0');
    in.read(text.data(), std::streamsize(text.size()));
    texts.push_back(std::move(text));
  }
  return texts;
}

int run(int count, char** arguments) {
  d5::Settings settings;
  bool is_lossless = false;
  for (int i = 2; i < count; ++i) {
    const std::string_view word = arguments[i];
    const std::size_t equals = word.find('=');
    if (word == "--lossless") {
      is_lossless = true;
    } else {
      settings.set(std::string(word.substr(0, equals)), std::string(word.substr(equals + 1)));
    }
  }
  const auto tokenizer = d5::tokenizers().at(arguments[1]).make(settings);
  std::chrono::duration<double> spent{};
  int status = 0;
  for (const std::string& text : read_texts(std::cin)) {
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<d5::TokenId> ids = tokenizer->encode(text);
    spent += std::chrono::steady_clock::now() - begin;
    std::string line;
    for (const d5::TokenId id : ids) line += std::to_string(id) + ' ';
    std::cout << line << '\n';
    if (is_lossless && tokenizer->decode(ids) != text) status = 1;
  }
  std::cerr << spent.count() << '\n';
  return status;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::cerr << "usage: tokenizer_ids NAME [OPTION=VALUE ...] < TEXTS\n";
    return 2;
  }
  try {
    return run(count, arguments);
  } catch (const d5::Error& error) {
    std::cerr << error.what() << '\n';
    return 3;
  }
}
