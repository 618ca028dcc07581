// SPDX-License-Identifier: BSD-3-Clause
// A folder for a test's files, removed at its end, and functions that read and write files without
// the library.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace scute::test {

using bytes = std::vector<unsigned char>;

class scratch {
 public:
  enum where { memory, disk };

  explicit scratch(where w = memory) {
    namespace fs = std::filesystem;
    const bool shm = w == memory && ::access("/dev/shm", W_OK) == 0;
    std::string name =
        ((shm ? fs::path("/dev/shm") : fs::temp_directory_path()) / "scute-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  std::string file(const char* name) const { return (path_ / name).string(); }
  // Counts files, except logs of pools, POOL.log or POOL.log.new, which come and go with their
  // pools.
  size_t pools() const {
    size_t n = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      n += entry.path().filename().string().find(".log") == std::string::npos ? 1 : 0;
    return n;
  }
  size_t count() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_),
                                             std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

inline bytes read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  bytes b(std::filesystem::file_size(path));
  in.read(reinterpret_cast<char*>(b.data()), static_cast<std::streamsize>(b.size()));
  return b;
}

inline void write_file(const std::string& path, const bytes& b) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(b.data()), static_cast<std::streamsize>(b.size()));
  EXPECT_TRUE(out.good()) << path;
}

inline bytes read_at(const std::string& path, uint64_t offset, size_t n) {
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  bytes b(n);
  in.read(reinterpret_cast<char*>(b.data()), static_cast<std::streamsize>(n));
  EXPECT_TRUE(in.good()) << path;
  return b;
}

inline void write_at(const std::string& path, uint64_t offset, const void* from, size_t n) {
  std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(static_cast<std::streamoff>(offset));
  out.write(static_cast<const char*>(from), static_cast<std::streamsize>(n));
  EXPECT_TRUE(out.good()) << path;
}

}  // namespace scute::test
