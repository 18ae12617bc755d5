// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/tokenizer/bpe_vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/tokenizer/bpe_file.hpp"
#include "level2_training/data/tokenizer/byte_alphabet.hpp"
#include "level2_training/data/tokenizer/file_fields.hpp"

namespace d5::detail {
namespace {

struct Halves {
  std::string_view left, right;
};

/// The two tokens of an entry of `model.merges`; nothing where it is no such entry.
std::optional<Halves> halves_of(const nlohmann::json& entry) {
  if (entry.is_string()) {
    const std::string_view both = entry.get_ref<const std::string&>();
    const std::size_t space = both.find(' ');
    if (space == std::string_view::npos || both.find(' ', space + 1) != std::string_view::npos) {
      return std::nullopt;
    }
    return Halves{both.substr(0, space), both.substr(space + 1)};
  }
  if (!entry.is_array() || entry.size() != 2) return std::nullopt;
  if (!entry[0].is_string() || !entry[1].is_string()) return std::nullopt;
  return Halves{entry[0].get_ref<const std::string&>(), entry[1].get_ref<const std::string&>()};
}

std::string place_of(const std::string& entry) {
  return fmt::format("model.vocab['{}']", printable(entry));
}

}  // namespace

void Vocabulary::fail(const std::string& place, const std::string& what) const {
  throw FormatError(fmt::format("{}: {} {}", who_, place, what));
}

Vocabulary::Vocabulary(const JsonReader& model, std::size_t added, std::string who)
    : who_(std::move(who)) {
  of_byte_.fill(ByteTokens::kNone);
  const nlohmann::json* vocabulary = model.field("vocab");
  if (!vocabulary || !vocabulary->is_object() || vocabulary->empty()) {
    fail("model.vocab", "has no tokens, expected an object with the id of each");
  }
  most_id_ = std::min(kMostTokens, TokenId(vocabulary->size() + added) + kMostHoles) - 1;
  for (const auto& [entry, id] : vocabulary->items()) {
    if (!id.is_number_integer() || id < 0 || id > most_id_) {
      fail(place_of(entry),
           fmt::format("is {}, expected an id from 0 to {}", printable(id.dump()), most_id_));
    }
    add_entry(entry, id.get<std::int32_t>());
  }
}

void Vocabulary::add_entry(const std::string& entry, std::int32_t id) {
  if (entry.empty()) fail(place_of(entry), "is the empty text, expected bytes of a token");
  const auto bytes = bytes_of_letters(entry);
  set(id, bytes ? *bytes : entry, [&] { return place_of(entry); });
  is_word_[std::size_t(id)] = bytes.has_value();
  if (bytes && bytes->size() == 1) of_byte_[static_cast<unsigned char>(bytes->front())] = id;
  entries_.push_back({entry, id});  // in order: objects of JSON are sorted as they are read
}

void Vocabulary::set(TokenId id, std::string bytes, const std::function<std::string()>& place) {
  const auto index = std::size_t(id);
  if (id > most_id_) {
    fail(place(), fmt::format("has the id {}, expected 0 to {}", id, most_id_));
  }
  if (index >= tokens_.size()) {
    tokens_.resize(index + 1);
    is_word_.resize(index + 1);
  }
  if (!tokens_[index].empty()) {
    fail(place(),
         fmt::format("has the id {}, which '{}' has already", id, printable(tokens_[index])));
  }
  tokens_[index] = std::move(bytes);
}

const std::int32_t* Vocabulary::find(std::string_view entry) const {
  const auto found = std::ranges::lower_bound(entries_, entry, {}, &Entry::text);
  return found != entries_.end() && found->text == entry ? &found->id : nullptr;
}

void Vocabulary::add(const AddedToken& token, const std::string& place) {
  if (!added_.insert(token.text).second) {
    fail(place,
         fmt::format("adds '{}' once more, expected each token once", printable(token.text)));
  }
  const std::int32_t* present = find(token.text);
  if (!present) return set(token.id, token.text, [&] { return place; });
  if (*present != token.id) {
    fail(place, fmt::format("gives '{}' the id {}, but model.vocab the id {}",
                            printable(token.text), token.id, *present));
  }
  const std::string& bytes = tokens_[std::size_t(token.id)];
  if (bytes == token.text) return;
  fail(place, fmt::format("adds the text '{}', but in model.vocab these letters mean the bytes "
                          "'{}', expected one meaning",
                          printable(token.text), printable(bytes)));
}

std::vector<TokenId> Vocabulary::words() const {
  std::vector<TokenId> words;
  for (std::size_t id = 0; id < is_word_.size(); ++id) {
    if (is_word_[id]) words.push_back(TokenId(id));
  }
  return words;
}

ByteTokens Vocabulary::byte_tokens(const JsonReader& model) const {
  ByteTokens bytes{.of = of_byte_};
  const auto missing = std::ranges::count(bytes.of, ByteTokens::kNone);
  if (missing == 0) return bytes;
  const auto unknown = text_or_none(model, "unk_token");
  if (!unknown) {
    if (missing < std::ssize(bytes.of)) return bytes;
    fail("model.vocab", "has no token of a byte, expected some of the 256, or model.unk_token");
  }
  const std::int32_t* id = find(*unknown);
  if (!id) {
    fail("model.unk_token",
         fmt::format("is '{}', expected a token of model.vocab", printable(*unknown)));
  }
  bytes.unknown = *id;
  bytes.joins_unknown = flag(model, "fuse_unk", false);
  return bytes;
}

TokenMerge Vocabulary::merge(std::string_view left, std::string_view right,
                             std::size_t index) const {
  const std::string both = std::string(left) + std::string(right);
  TokenMerge merge;
  for (const auto& [entry, id] : {std::pair<std::string_view, std::int32_t*>{left, &merge.left},
                                  {right, &merge.right},
                                  {both, &merge.result}}) {
    const std::int32_t* found = find(entry);
    if (!found) {
      fail(fmt::format("model.merges[{}]", index),
           fmt::format("joins '{}' and '{}', but model.vocab has no '{}'", printable(left),
                       printable(right), printable(entry)));
    }
    *id = *found;
  }
  return merge;
}

std::vector<TokenMerge> Vocabulary::merges(const JsonReader& model) const {
  const nlohmann::json* entries = model.field("merges");
  if (!entries || !entries->is_array()) fail("model.merges", "is no list, expected merges");
  if (entries->size() > std::size_t(kMostTokens)) {
    fail("model.merges",
         fmt::format("has {} entries, expected at most {}", entries->size(), kMostTokens));
  }
  std::vector<TokenMerge> merges;
  for (std::size_t index = 0; index < entries->size(); ++index) {
    const auto halves = halves_of((*entries)[index]);
    if (!halves) {
      fail(fmt::format("model.merges[{}]", index),
           "is no merge, expected a text 'a b' or a pair ['a', 'b']");
    }
    merges.push_back(merge(halves->left, halves->right, index));
  }
  expect_distinct(merges);
  return merges;
}

void Vocabulary::expect_distinct(const std::vector<TokenMerge>& merges) const {
  std::vector<std::tuple<std::int32_t, std::int32_t, std::size_t>> pairs;
  for (const TokenMerge& merge : merges) pairs.emplace_back(merge.left, merge.right, pairs.size());
  std::ranges::sort(pairs);
  const auto same = [](const auto& a, const auto& b) {
    return std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b);
  };
  const auto twice = std::ranges::adjacent_find(pairs, same);
  if (twice == pairs.end()) return;
  fail(fmt::format("model.merges[{}]", std::get<2>(*(twice + 1))),
       fmt::format("joins the same tokens as model.merges[{}], expected each pair once",
                   std::get<2>(*twice)));
}

}  // namespace d5::detail
