// SPDX-License-Identifier: BSD-3-Clause
// A pool file of a crash in a transaction, for tests of the C++ interface, whose headers cannot be
// included along with the library's own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace scute_test {

struct crashed_pool {
  std::string path;
  std::vector<uint64_t> oids;
  std::vector<std::vector<unsigned char>> contents;  // that the objects must have
};

/// Four objects of 400 bytes. A transaction changed the first and the third one; of what it wrote
/// only the first one is there. The pool was opened since, and closed before it was resolved.
crashed_pool make_crashed_pool(const std::string& path);

}  // namespace scute_test
