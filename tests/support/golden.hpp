// SPDX-License-Identifier: BSD-3-Clause
// Texts that are pinned in files next to the tests. SCUTE_UPDATE_GOLDEN=1 writes the files again.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "support/project_paths.hpp"
#include "support/scratch.hpp"

namespace scute::test {

// file: from the source tree's root. what: that has changed if the text is another one.
inline void compare_golden(const std::string& file, const std::string& text, const char* what) {
  const std::string path = source_path(file);
  if (std::getenv("SCUTE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  const bytes want = read_file(path);
  EXPECT_EQ(text, std::string(want.begin(), want.end()))
      << what << " changed; if that was meant: SCUTE_UPDATE_GOLDEN=1";
}

}  // namespace scute::test
