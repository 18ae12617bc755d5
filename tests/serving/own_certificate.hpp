// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

#include "tests/temporary_folder.hpp"

namespace d5::testing {

/// A certificate of `localhost` and 127.0.0.1 that vouches for itself, good for a day.
struct OwnCertificate {
  TemporaryFolder folder = {};
  std::string key = folder / "key.pem", certificate = folder / "certificate.pem";
  /// Whether there is a program that makes one.
  bool made = std::system(("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 "
                           "-nodes -days 1 -subj /CN=localhost -addext "
                           "subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout " +
                           key + " -out " + certificate + " 2>/dev/null")
                              .c_str()) == 0;
};

}  // namespace d5::testing
