// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/api/access_tokens.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/rand.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files/file_lock.hpp"
#include "core/files/sha256.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"

namespace d5 {
namespace {

using Json = nlohmann::ordered_json;
using Token = AccessTokens::Token;

constexpr const char* kFormat = "d5 tokens";
constexpr int kTokensSchema = 1;
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

std::vector<Token> read_tokens(const std::string& file) {
  std::vector<Token> tokens;
  try {
    const Json all = Json::parse(read_file(file, kMostBytes));
    if (all.at("format") != kFormat || all.at("schema") != kTokensSchema) {
      throw FormatError(fmt::format("'{}': expected the format '{}', schema {}", printable(file),
                                    kFormat, kTokensSchema));
    }
    for (const Json& one : all.at("tokens")) {
      tokens.push_back({one.at("name"), serving_role(one.at("role").get<std::string>()),
                        one.at("added"), one.at("sha256")});
    }
  } catch (const Json::exception& error) {
    throw FormatError(fmt::format("'{}' holds no tokens: {}; 'd5 token add' makes it",
                                  printable(file), error.what()));
  }
  return tokens;
}

void write_tokens(const std::string& file, const std::vector<Token>& tokens) {
  Json list = Json::array();
  for (const Token& one : tokens) {
    list.push_back({{"name", one.name},
                    {"role", name_of(one.role)},
                    {"added", one.added},
                    {"sha256", one.sha256}});
  }
  const Json all{{"format", kFormat}, {"schema", kTokensSchema}, {"tokens", std::move(list)}};
  write_file(file, all.dump(2) + "\n");
}

bool is_there(const std::string& file) {
  std::error_code absent;
  return std::filesystem::exists(file, absent);
}

std::string random_token() {
  std::array<unsigned char, 32> bits{};
  if (RAND_bytes(bits.data(), int(bits.size())) != 1) throw Error("OpenSSL has no random numbers");
  std::string token;
  for (const unsigned char byte : bits) token += fmt::format("{:02x}", byte);
  return token;
}

/// Time of the file's last change; 0 if it is missing.
std::int64_t change_of(const std::string& file) {
  struct stat found{};
  if (::stat(file.c_str(), &found) != 0) return 0;
  constexpr std::int64_t kBillion = 1'000'000'000;
  return found.st_mtim.tv_sec * kBillion + found.st_mtim.tv_nsec;
}

}  // namespace

AccessTokens::AccessTokens(std::string file) : file_(std::move(file)) {
  if (!is_there(file_)) {
    throw IoError(
        fmt::format("there is no file of tokens '{}'; 'd5 token add' makes it", printable(file_)));
  }
  read_if_changed();
}

void AccessTokens::read_if_changed() const {
  const std::int64_t changed = change_of(file_);
  if (changed == changed_) return;
  by_digest_.clear();  // a missing or unreadable file lets nobody in
  changed_ = changed;
  if (changed == 0) return;
  for (const Token& one : read_tokens(file_)) by_digest_.emplace(one.sha256, one);
}

std::optional<Token> AccessTokens::find(const std::string& token) const {
  const std::scoped_lock lock(mutex_);
  read_if_changed();
  const auto found = by_digest_.find(detail::sha256(token));
  if (found == by_digest_.end()) return {};
  return found->second;
}

std::optional<Token> AccessTokens::told(const std::string& authorization) const {
  constexpr std::string_view kBearer = "Bearer ";
  if (!authorization.starts_with(kBearer)) return {};
  return find(authorization.substr(kBearer.size()));
}

std::vector<Token> AccessTokens::list() const { return read_tokens(file_); }

std::string AccessTokens::add(const std::string& file, const std::string& name, ServingRole role) {
  if (role == ServingRole::anyone) {
    throw ValueError("a token cannot have the role anyone; use view, run or admin");
  }
  if (name.empty()) throw ValueError("a token needs a name: that of its owner");
  std::filesystem::create_directories(std::filesystem::absolute(file).parent_path());
  const detail::FileLock lock(file + ".lock");
  std::vector<Token> tokens;
  if (is_there(file)) tokens = read_tokens(file);
  if (std::ranges::find(tokens, name, &Token::name) != tokens.end()) {
    throw ValueError(fmt::format("'{}' has a token named '{}'; remove it, or choose another name",
                                 printable(file), printable(name)));
  }
  std::string token = random_token();
  tokens.push_back({name, role,
                    fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
                    detail::sha256(token)});
  write_tokens(file, tokens);
  return token;
}

void AccessTokens::remove(const std::string& file, const std::string& name) {
  const detail::FileLock lock(file + ".lock");
  std::vector<Token> tokens = read_tokens(file);
  const auto found = std::ranges::find(tokens, name, &Token::name);
  if (found == tokens.end()) {
    std::vector<std::string> known;
    for (const Token& one : tokens) known.push_back(one.name);
    throw_unknown_name("token", name, known);
  }
  tokens.erase(found);
  write_tokens(file, tokens);
}

std::string usual_tokens() {
  const std::filesystem::path database = usual_database();
  if (database.native().find("://") != std::string::npos) {
    throw ValueError("the default database is a server: give the file of the tokens");
  }
  return (database.parent_path() / "tokens.json").string();
}

}  // namespace d5
