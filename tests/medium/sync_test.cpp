// SPDX-License-Identifier: BSD-3-Clause
// A page-cache medium's fence is msync or fdatasync of the dirtied bytes, and the medium
// announces how it will read. This test catches the calls in front of the C library's, and makes
// them fail on demand.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>

#include "support/pool_file.hpp"

namespace {

std::mutex guard;
struct call {
  const char* at;
  size_t length;
};
std::vector<call> msyncs;
std::vector<call> at_random, soon;  // madvise: MADV_RANDOM, MADV_WILLNEED
std::atomic<int> fdatasyncs{0};
std::atomic<int> fail_with{0};

}  // namespace

extern "C" int msync(void* at, size_t length, int flags) {
  if (fail_with != 0) {
    errno = fail_with;
    return -1;
  }
  {
    const std::lock_guard hold(guard);
    msyncs.push_back({static_cast<const char*>(at), length});
  }
  EXPECT_EQ(flags, MS_SYNC);
  static const auto real =
      reinterpret_cast<int (*)(void*, size_t, int)>(::dlsym(RTLD_NEXT, "msync"));
  return real(at, length, flags);
}

extern "C" int madvise(void* at, size_t length, int advice) noexcept {
  if (advice == MADV_RANDOM || advice == MADV_WILLNEED) {
    const std::lock_guard hold(guard);
    (advice == MADV_RANDOM ? at_random : soon).push_back({static_cast<const char*>(at), length});
  }
  static const auto real =
      reinterpret_cast<int (*)(void*, size_t, int)>(::dlsym(RTLD_NEXT, "madvise"));
  return real(at, length, advice);
}

extern "C" int fdatasync(int fd) {
  if (fail_with != 0) {
    errno = fail_with;
    return -1;
  }
  ++fdatasyncs;
  static const auto real = reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "fdatasync"));
  return real(fd);
}

namespace scute::test {
namespace {

class sync : public testing::Test {
 protected:
  void SetUp() override {
    scute_options o = options();
    o.medium = SCUTE_MEDIUM_FILE;
    o.engine = SCUTE_ENGINE_LOGFREE;  // every byte goes by way of the mapping
    f.create(o);
    oid = f.alloc(pattern(1, 300));
    forget();
  }
  void TearDown() override { fail_with = 0; }
  void open() {
    scute_options o = opening();
    o.medium = SCUTE_MEDIUM_FILE;
    SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
  }
  static void forget() {
    msyncs.clear();
    fdatasyncs = 0;
    at_random.clear();
    soon.clear();
  }
  bool in(const std::vector<call>& calls, uint64_t offset) {
    const auto* const at = reinterpret_cast<const char*>(f.raw(offset));
    return std::any_of(calls.begin(), calls.end(),
                       [&](const call& c) { return c.at <= at && at < c.at + c.length; });
  }
  pool_file f;
  scute_oid oid = 0;
};

TEST_F(sync, EveryFenceSyncs) {
  const auto before = f.stats();
  f.overwrite(oid, pattern(2, 300));
  const auto after = f.stats();
  EXPECT_EQ(after.fences - before.fences, 2u);
  EXPECT_EQ(msyncs.size() + static_cast<size_t>(fdatasyncs), 2u);
  for (const call& c : msyncs) {
    const auto at = static_cast<uint64_t>(c.at - reinterpret_cast<const char*>(f.raw(0)));
    EXPECT_EQ(at % 4096, 0u);
    EXPECT_LE(at + c.length, mib);
  }
}

// The page cache writes folios back as a whole: bytes that are read page by page come in folios
// of one page. A caller that reads a pool from end to end says so beforehand, or would wait for
// every page.
TEST_F(sync, AccessesAreAtRandomAndWholePoolsAskBeforehand) {
  f.close();
  forget();
  open();
  EXPECT_TRUE(in(at_random, 0));
  EXPECT_TRUE(in(at_random, mib - 1));
  const auto& g = f.in().s.geo;
  const uint64_t data = f.offset_of(oid);
  const uint64_t parity = g.zones_offset + g.data_size + (data - g.zones_offset) % g.row_size;
  forget();
  scute_report r{};
  r.struct_size = sizeof r;
  SCUTE_OKAY(scute_check(f.pool, 0, &r, nullptr, nullptr, nullptr));
  EXPECT_TRUE(in(soon, data));
  forget();
  SCUTE_OKAY(scute_scrub(f.pool, nullptr, &r));
  EXPECT_TRUE(in(soon, data));
  EXPECT_TRUE(in(soon, parity));
  f.close();
  scute_options o = opening();
  o.medium = SCUTE_MEDIUM_RAM;
  forget();
  SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
  SCUTE_OKAY(scute_scrub(f.pool, nullptr, &r));
  EXPECT_TRUE(soon.empty());
}

TEST_F(sync, ReadOnlySyncsNothing) {
  f.close();
  scute_options o = opening();
  o.medium = SCUTE_MEDIUM_FILE;
  o.flags = SCUTE_READONLY;
  forget();
  SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
  EXPECT_TRUE(f.read(oid) == pattern(1, 300));
  f.close();
  EXPECT_EQ(msyncs.size() + static_cast<size_t>(fdatasyncs), 0u);
}

TEST_F(sync, AFailedFenceStopsThePool) {
  {
    transaction tx(f);
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_open(tx, oid, &p));
    std::memset(p, 9, 300);
    fail_with = EIO;
    SCUTE_FAILS(SCUTE_E_IO, tx.commit());
    fail_with = 0;
  }
  // Nothing more may be built on what the file holds, even if the next sync would succeed.
  {
    transaction tx(f);
    void* p = nullptr;
    if (scute_tx_open(tx, oid, &p) == SCUTE_OK) {
      std::memset(p, 8, 300);
      SCUTE_FAILS(SCUTE_E_IO, tx.commit());
    }
    scute_oid fresh = 0;
    transaction another(f);
    SCUTE_FAILS(SCUTE_E_IO, scute_tx_alloc(another, 10, 1, &fresh, &p));
  }
  SCUTE_FAILS(SCUTE_E_IO, scute_close(f.pool));
  f.pool = nullptr;
  open();
  EXPECT_EQ(f.info().clean, 0);
  const bytes now = f.read(oid);
  EXPECT_TRUE(now == pattern(1, 300) || now == bytes(300, 9));
  f.expect_sound();
  EXPECT_NE(f.alloc(pattern(3, 100)), 0u);
}

TEST_F(sync, CreateAndOpenReportIt) {
  f.close();
  fail_with = EIO;
  scute_options o = opening();
  o.medium = SCUTE_MEDIUM_FILE;
  SCUTE_FAILS(SCUTE_E_IO, scute_open(f.path.c_str(), &o, &f.pool));
  const std::string second = f.dir.file("second");
  SCUTE_FAILS(SCUTE_E_IO, scute_create(second.c_str(), &o, &f.pool));
  EXPECT_EQ(f.dir.count(), 1u) << "neither the second one nor a log of it";
  fail_with = 0;
  open();
  EXPECT_TRUE(f.read(oid) == pattern(1, 300));
  f.expect_sound();
}

}  // namespace
}  // namespace scute::test
