// SPDX-License-Identifier: Apache-2.0
#include "core/files/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "d5/core/error.hpp"

namespace d5::detail {

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  if (!context_ ||
      EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_), EVP_sha256(), nullptr) != 1) {
    throw Error("OpenSSL cannot compute SHA-256 here");
  }
}

Sha256::~Sha256() { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_)); }

Sha256& Sha256::add(std::string_view bytes) {
  EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_), bytes.data(), bytes.size());
  return *this;
}

std::string Sha256::digest() {
  std::array<unsigned char, 32> sum{};
  EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(context_), sum.data(), nullptr);
  std::string text;
  for (const unsigned char byte : sum) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace d5::detail
