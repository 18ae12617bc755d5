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

/// An authority, and a certificate of `localhost` that it vouches for, good for a day.
struct TestAuthority {
  TemporaryFolder folder = {};
  std::string certificate = folder / "authority.pem";
  std::string server_key = folder / "server-key.pem", server = folder / "server.pem";
  /// Whether there is a program that makes them.
  bool made =
      std::system(("cd '" + folder / "." +
                   "' && exec 2>/dev/null; new='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 "
                   "-nodes'; openssl req -x509 $new -days 1 -subj /CN=authority -keyout "
                   "authority-key.pem -out authority.pem && openssl req $new -subj /CN=localhost "
                   "-keyout server-key.pem -out request.pem && echo "
                   "subjectAltName=DNS:localhost > names && openssl x509 -req -in request.pem -CA "
                   "authority.pem -CAkey authority-key.pem -CAcreateserial -days 1 -extfile names "
                   "-out server.pem")
                      .c_str()) == 0;
};

}  // namespace d5::testing
