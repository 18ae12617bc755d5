// SPDX-License-Identifier: Apache-2.0
#include "core/files/clutter.hpp"

#include <catch2/catch.hpp>

using d5::detail::has_clutter;
using d5::detail::is_clutter;

TEST_CASE("what desktops and notebooks leave beside data is clutter") {
  for (const char* name : {".ipynb_checkpoints", ".DS_Store", "._dog.jpg", ".git", "__MACOSX",
                           "Thumbs.db", "thumbs.db", "THUMBS.DB", "ehthumbs.db", "desktop.ini",
                           "Desktop.ini", "$RECYCLE.BIN", "System Volume Information", "@eaDir"}) {
    INFO(name);
    CHECK(is_clutter(name));
  }
  for (const char* name : {"dog.jpg", "n01440764", "thumbs", "Thumbs.db.jpg", "my.desktop.ini.png",
                           "_", "MACOSX", "größe", ""}) {
    INFO(name);
    CHECK_FALSE(is_clutter(name));
  }
}

TEST_CASE("a path has clutter where a part of it is") {
  CHECK(has_clutter("__MACOSX/dogs/._1.jpg"));
  CHECK(has_clutter("dogs/.cache/1.jpg"));
  CHECK_FALSE(has_clutter("./dogs/1.jpg"));
  CHECK_FALSE(has_clutter("../dogs/1.jpg"));
}
