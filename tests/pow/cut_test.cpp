// SPDX-License-Identifier: BSD-3-Clause
// Files that have lost their end.
#include <scute/pow.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <string>

#include "files.hpp"
#include "pow/file/file_head.hpp"

namespace scute::pow {
namespace {

class Cut : public test::pow_files {
 protected:
  options chosen(scute_pow_protection protect, uint32_t flags = 0) {
    options o = small();
    o.protection = protect;
    o.flags |= flags;
    o.damage_arg = this;
    o.damage = [](void* arg, const char* what, int is_lost) {
      auto& of = *static_cast<Cut*>(arg);
      of.reported += std::string(what) + "\n";
      of.lost += is_lost != 0 ? 1 : 0;
    };
    return o;
  }
  static std::string text_of(uint64_t i) {
    return std::string(3000 + i * 13, static_cast<char>('a' + i % 26));
  }
  void make(scute_pow_protection protect, uint64_t n) {
    std::filesystem::remove(path);
    store db(path, chosen(protect));
    map<uint64_t, std::string> all(db, "all");
    for (uint64_t i = 0; i < n; ++i) {
      auto s = db.section(m);
      all.edit(i) = text_of(i);
      s.commit();
    }
  }
  // How many of them are there; each of them right.
  uint64_t found(const options& o) {
    reported.clear();
    lost = 0;
    const bool reads = (o.flags & SCUTE_POW_READONLY) != 0;
    store db(path, o);
    if (reads && db.info().tables == 0) return 0;
    map<uint64_t, std::string> all(db, "all");
    for (const auto& [i, text] : all) EXPECT_EQ(text, text_of(i));
    if (!reads) {
      EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
      EXPECT_EQ(std::filesystem::file_size(path), db.info().file_size);
    }
    return all.size();
  }

  std::string reported;
  uint64_t lost = 0;
};
INSTANTIATE_TEST_SUITE_P(, Cut, test::memory_and_disk(), test::name_of_place);

// The last page is of a segment that is not in use.
TEST_P(Cut, AFreePageIsMissing) {
  for (const auto protect : {SCUTE_POW_NONE, SCUTE_POW_SEALED, SCUTE_POW_ALWAYS})
    for (const uint64_t bytes : {uint64_t{4096}, uint64_t{1}, uint64_t{72 * 1024 + 100}}) {
      make(protect, 40);
      const uint64_t size = std::filesystem::file_size(path);
      std::filesystem::resize_file(path, size - bytes);
      EXPECT_EQ(code_of([&] { found(chosen(protect)); }), errc::truncated);
      EXPECT_EQ(std::filesystem::file_size(path), size - bytes);
      EXPECT_EQ(found(chosen(protect, SCUTE_POW_SALVAGE | SCUTE_POW_READONLY)), 40U) << reported;
      EXPECT_EQ(lost, 0U) << reported;
      EXPECT_NE(reported.find("the end of the file"), std::string::npos) << reported;
      EXPECT_EQ(std::filesystem::file_size(path), size - bytes);
      EXPECT_EQ(found(chosen(protect, SCUTE_POW_SALVAGE)), 40U);
      EXPECT_EQ(lost, 0U) << reported;
      EXPECT_NE(reported.find("the end of the file"), std::string::npos) << reported;
      EXPECT_EQ(found(chosen(protect)), 40U) << "nothing is missing any more";
      EXPECT_EQ(reported, "");
    }
}

// Wherever it ends, what is before that is there, or known from a group.
TEST_P(Cut, UsedSegmentsAreMissing) {
  for (const auto protect : {SCUTE_POW_NONE, SCUTE_POW_SEALED, SCUTE_POW_ALWAYS}) {
    make(protect, 300);
    const auto sound = test::read_file(path);
    uint64_t most = 0;
    for (uint64_t size = sound.size() - 4096; size > 4096;
         size -= std::min(size, uint64_t{72 * 1024 - 4096})) {
      for (const uint32_t flags :
           {uint32_t{SCUTE_POW_SALVAGE | SCUTE_POW_READONLY}, uint32_t{SCUTE_POW_SALVAGE}}) {
        test::write_file(path, sound);
        std::filesystem::resize_file(path, size);
        const uint64_t n = found(chosen(protect, flags));
        if (n != 300) {
          EXPECT_GT(lost, 0U) << size << "\n" << reported;
        }
        most = std::max(most, n);
      }
      const std::string before = reported;
      uint64_t n = 0;
      // A loss that the caller has accepted is not found again.
      EXPECT_EQ(code_of([&] { n = found(chosen(protect)); }), errc{})
          << protect << ", " << size << " bytes: " << before;
      EXPECT_EQ(lost, 0U) << reported;
      EXPECT_LE(n, 300U);
    }
    EXPECT_GT(most, 200U);
  }
}

// A head that says more than the file has, and than there can be.
TEST_P(Cut, TheHeadSaysTooMuch) {
  namespace format = core::pow;
  make(SCUTE_POW_ALWAYS, 40);
  auto bytes = test::read_file(path);
  const auto old = [&] {
    format::file_head h{};
    std::memcpy(&h, bytes.data(), sizeof h);
    return h;
  }();
  const uint64_t all = uint64_t{1} << 32, size = old.segment_size;
  for (const uint64_t segments :
       {old.segments + 1000, all - 2, all - 1, all, all + 1, UINT64_MAX / size, UINT64_MAX,
        (UINT64_MAX - format::first_segment) / size + 1 + old.segments})
    for (const uint64_t segment_size : {size, all}) {
      if (segment_size == all && segments < all - 2) continue;
      format::file_head h = old;
      h.segments = segments;
      h.segment_size = segment_size;
      h.checksum = head_checksum(h);
      for (uint32_t i = 0; i < format::head_copies; ++i)
        std::memcpy(bytes.data() + i * format::head_page, &h, sizeof h);
      test::write_file(path, bytes);
      const bool possible = segments == old.segments + 1000;
      for (const uint32_t flags :
           {0U, uint32_t{SCUTE_POW_SALVAGE}, uint32_t{SCUTE_POW_SALVAGE | SCUTE_POW_READONLY}}) {
        EXPECT_EQ(code_of([&] { found(chosen(SCUTE_POW_ALWAYS, flags)); }),
                  possible ? errc::truncated : errc::corrupt)
            << segments << " of " << segment_size << ", flags " << flags;
        EXPECT_TRUE(test::read_file(path) == bytes);
      }
    }
}

}  // namespace
}  // namespace scute::pow
