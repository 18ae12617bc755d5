// SPDX-License-Identifier: Apache-2.0
#include "core/files/sha256.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// Size of a read: the system call is cheap compared to hashing so many bytes.
constexpr std::size_t kPieceBytes = std::size_t{1} << 16;

}  // namespace

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

void for_each_piece(const std::string& path, const std::function<void(std::string_view)>& piece,
                    const Interrupt& interrupt) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto fail = [&] {
    return IoError(fmt::format("cannot read '{}': {}", printable(path), std::strerror(errno)));
  };
  if (file < 0) throw fail();
  const struct Closer {
    int file;
    ~Closer() { ::close(file); }
  } closer{file};
  std::string buffer(kPieceBytes, '\0');
  for (;;) {
    interrupt.check("reading '" + printable(path) + "'");
    const ssize_t got = ::read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw fail();
    if (got == 0) return;
    piece(std::string_view(buffer).substr(0, std::size_t(got)));
  }
}

std::string sha256_of_file(const std::string& path, const Interrupt& interrupt) {
  Sha256 sum;
  for_each_piece(path, [&](std::string_view piece) { sum.add(piece); }, interrupt);
  return sum.digest();
}

}  // namespace d5::detail
