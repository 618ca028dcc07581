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

// file: its path from the root of the source tree. what: the subject that has changed if the text
// differs.
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
