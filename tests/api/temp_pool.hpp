// SPDX-License-Identifier: BSD-3-Clause
//
// temp_pool.hpp: what the tests of the C++ interface share: a folder that vanishes, a pool in it
// that can be reopened, and a seed that can be repeated.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <random>
#include <scute/scute.hpp>
#include <string>

namespace scute_test {

/// A fresh folder, in memory if there is a place for that; removed at the end.
class temp_folder {
 public:
  temp_folder() {
    std::error_code ignored;
    const bool shm = access("/dev/shm", W_OK) == 0;
    std::string pattern =
        (shm ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path()) /
        "scute-test-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "mkdtemp");
    }
    path_ = pattern;
  }
  ~temp_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temp_folder(const temp_folder&) = delete;
  temp_folder& operator=(const temp_folder&) = delete;

  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// A test with an empty pool in a folder of its own.
class pool_test : public testing::Test {
 protected:
  void make(uint64_t size = 16ULL << 20) {
    pool = scute::pool::create(folder / "test.pool", {.size = size});
  }
  void SetUp() override { make(); }

  void reopen() {
    pool.close();
    pool = scute::pool::open(folder / "test.pool");
  }

  size_t objects() const {
    size_t n = 0;
    for ([[maybe_unused]] const auto p : pool.objects()) {
      ++n;
    }
    return n;
  }

  temp_folder folder;
  scute::pool pool;
};

/// SCUTE_TEST_SEED repeats a run; otherwise every run is another. Print it with every failure.
inline uint64_t seed() {
  static const uint64_t value = [] {
    const char* given = std::getenv("SCUTE_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  }();
  return value;
}

#define SCUTE_TRACE_SEED() \
  SCOPED_TRACE("repeat with SCUTE_TEST_SEED=" + std::to_string(scute_test::seed()))

/// Runs something and returns the code of the scute::error that it throws; 0 if it throws none.
template <class F>
scute::errc thrown(F&& f) {
  try {
    f();
  } catch (const scute::error& e) {
    EXPECT_NE(std::string(e.what()), "");
    return e.which();
  }
  return scute::errc{0};
}

}  // namespace scute_test

#define EXPECT_ERRC(code, ...) \
  EXPECT_EQ(scute_test::thrown([&] { __VA_ARGS__; }), scute::errc::code)
