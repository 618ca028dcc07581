// SPDX-License-Identifier: BSD-3-Clause
// A file system without room, under a persist-on-write file: SCUTE_E_NOSPC, with nothing changed,
// and never a store or a load that finds no block.
#include <scute/pow.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <string>

#include "disk/own_process.hpp"
#include "disk/small_disk.hpp"
#include "support/scratch.hpp"

namespace scute::test {
namespace {

class pow_full_disk : public testing::TestWithParam<scute_medium> {
 protected:
  static pow::options how() {
    pow::options o;
    o.size = 512 << 10;
    o.max_size = 8 << 20;
    o.segment_size = 72 * 1024;
    o.medium = GetParam();
    o.flags = SCUTE_POW_NO_CLEANER;
    return o;
  }
  static errc code_of(const std::function<void()>& f) {
    try {
      f();
    } catch (const error& e) {
      return e.which();
    }
    return errc{};
  }
};

INSTANTIATE_TEST_SUITE_P(, pow_full_disk, testing::Values(SCUTE_MEDIUM_RAM, SCUTE_MEDIUM_FILE),
                         [](const auto& p) {
                           return std::string(p.param == SCUTE_MEDIUM_RAM ? "ram" : "file");
                         });

TEST_P(pow_full_disk, CreateTooLarge) {
  in_own_process([] {
    const scratch folder;
    small_disk::begin(100);
    small_disk::report_free();
    EXPECT_EQ(code_of([&] { pow::store db(folder.file("s.pow"), how()); }), errc::nospc);
    EXPECT_NE(std::string(scute_errormsg()).find("has 409600 bytes free, and "), std::string::npos)
        << scute_errormsg();
    EXPECT_EQ(small_disk::free_pages(), 100U) << "blocks were taken";
    EXPECT_EQ(folder.count(), 0U) << "a file is left over";
    small_disk::set_free(300);
    pow::store db(folder.file("s.pow"), how());
  });
}

TEST_P(pow_full_disk, Create) {
  in_own_process([] {
    uint64_t refused = 0;
    for (uint64_t pages = 0;; pages += 7) {
      const scratch folder;
      small_disk::begin(pages);
      const errc e = code_of([&] { pow::store db(folder.file("s.pow"), how()); });
      if (e == errc{}) break;
      ASSERT_EQ(e, errc::nospc) << scute_errormsg();
      EXPECT_EQ(folder.count(), 0U) << "a file is left over";
      ++refused;
      ASSERT_LT(pages, 400U);
    }
    EXPECT_GT(refused, 2U);
  });
}

// The file grows as far as there is room. A section that did not fit has changed nothing. With more
// room, the store continues.
TEST_P(pow_full_disk, Growth) {
  in_own_process([] {
    const scratch folder;
    const std::string path = folder.file("s.pow");
    small_disk::begin(300);
    {
      pow::store db(path, how());
      pow::map<uint64_t, std::string> all(db, "all");
      std::mutex m;
      const auto put = [&](uint64_t k) {
        return code_of([&] {
          auto s = db.section(m);
          all.edit(k) = std::string(9000, static_cast<char>('a' + k % 26));
          s.commit();
        });
      };
      uint64_t n = 0;
      errc e{};
      while (e == errc{} && n < 2000)
        if (e = put(n); e == errc{}) ++n;
      ASSERT_EQ(e, errc::nospc) << scute_errormsg();
      // It is the file system that is full, and not the file.
      EXPECT_NE(std::string(scute_errormsg()).find("No space left"), std::string::npos)
          << scute_errormsg();
      EXPECT_GT(n, 20U);
      EXPECT_EQ(all.size(), n);
      EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
      // It can erase, and use what that brings.
      for (uint64_t k = 0; k < n; k += 2) {
        auto s = db.section(m);
        all.erase(k);
        s.commit();
      }
      EXPECT_EQ(put(5000), errc{}) << scute_errormsg();
      small_disk::set_free(4000);
      for (uint64_t k = 6000; k < 6100; ++k) EXPECT_EQ(put(k), errc{}) << scute_errormsg();
      EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
    }
    pow::store db(path, how());
    pow::map<uint64_t, std::string> all(db, "all");
    EXPECT_TRUE(all.contains(5000));
    EXPECT_TRUE(all.contains(6099));
    EXPECT_EQ(db.check(), 0U);
  });
}

}  // namespace
}  // namespace scute::test
