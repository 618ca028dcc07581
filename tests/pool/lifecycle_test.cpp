// SPDX-License-Identifier: BSD-3-Clause
// Making, opening and closing pools: every documented refusal, and the files that remain.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <thread>

#include "core/shared/pool/superblock.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
using namespace core;
namespace {

class lifecycle : public testing::Test {
 protected:
  int create(const std::string& at, const scute_options& o) {
    const int e = scute_create(at.c_str(), &o, &pool);
    if (e == SCUTE_OK) close();
    return e;
  }
  int open(const std::string& at, uint32_t flags = 0, const char* layout = nullptr) {
    scute_options o = opening();
    o.flags = flags;
    o.layout = layout;
    const int e = scute_open(at.c_str(), &o, &pool);
    if (e == SCUTE_OK) close();
    return e;
  }
  void close() {
    SCUTE_OKAY_E(scute_close(pool));
    pool = nullptr;
  }
  void edit_superblocks(const std::function<void(format::superblock&)>& edit) {
    const bytes all = read_file(path);
    for (unsigned i = 0; i < 3; ++i) {
      const uint64_t at = i == 0 ? 0 : i == 1 ? 4096 : all.size() - 4096;
      format::superblock sb;
      std::memcpy(&sb, all.data() + at, sizeof sb);
      edit(sb);
      sb.checksum = pool::superblock_checksum(sb);
      write_at(path, at, &sb, sizeof sb);
    }
  }

  scratch dir;
  std::string path = dir.file("pool");
  scute_pool* pool = nullptr;
};

TEST_F(lifecycle, EverythingSurvivesReopening) {
  scute_options o = options(8 * mib);
  o.layout = "ledger 2";
  o.rows = 7;
  o.lanes = 5;
  o.chunk_size = 32768;
  o.mode = 0640;
  SCUTE_OKAY(scute_create(path.c_str(), &o, &pool));
  scute_info a{}, b{};
  a.struct_size = b.struct_size = sizeof a;
  SCUTE_OKAY(scute_pool_info(pool, &a));
  close();
  struct stat st{};
  ASSERT_EQ(0, ::stat(path.c_str(), &st));
  EXPECT_EQ(st.st_mode & 0777u, 0640u);
  EXPECT_EQ(st.st_size, static_cast<off_t>(8 * mib));
  EXPECT_LT(st.st_blocks * 512, static_cast<off_t>(mib)) << "a new pool is sparse";
  for (uint64_t i = 1; i <= 3; ++i) {
    SCUTE_OKAY(scute_open(path.c_str(), nullptr, &pool));
    SCUTE_OKAY(scute_pool_info(pool, &b));
    EXPECT_EQ(b.epoch, a.epoch + i);
    EXPECT_EQ(b.clean, 1);
    EXPECT_EQ(b.recovered, 0u);
    close();
  }
  EXPECT_EQ(0, std::memcmp(a.uuid, b.uuid, 16));
  EXPECT_STREQ(b.layout, "ledger 2");
  EXPECT_EQ(b.rows, 7u);
  EXPECT_EQ(b.lanes, 5u);
  EXPECT_EQ(b.chunk_size, 32768u);
  EXPECT_EQ(b.size, 8 * mib);
  EXPECT_EQ(b.tag, a.tag);
  EXPECT_NE(b.tag, 0u);
  EXPECT_EQ(b.chunks_free, b.chunk_count);
}

TEST_F(lifecycle, EverySizeAndProtectionWorks) {
  for (const uint64_t size :
       {mib, mib + 4096, 3 * mib, 16 * mib, 100 * mib, gib, 16 * gib, 40 * gib})
    for (int p = 0; p < 4; ++p) {
      SCOPED_TRACE(std::to_string(size) + " protection " + std::to_string(p));
      pool_file f;
      f.create(size, static_cast<scute_protection>(p));
      const scute_oid oid = f.alloc(pattern(size, 10000));
      ASSERT_NE(oid, 0u) << scute_errormsg();
      f.reopen();
      EXPECT_TRUE(f.read(oid) == pattern(size, 10000));
      if (size <= 16 * mib) f.expect_sound();
    }
}

TEST_F(lifecycle, EveryChoiceOfGeometryWorks) {
  for (const uint32_t rows : {1u, 2u, 3u, 5u, 16u, 40u})
    for (const uint32_t lanes : {1u, 2u, 20u})
      for (const uint32_t chunk : {16384u, 65536u, 262144u}) {
        SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(lanes) +
                     " lanes, chunks of " + std::to_string(chunk));
        scute_options o = options((rows == 1 ? 8 : 4) * mib);  // with one, half of it is parity
        o.rows = rows, o.lanes = lanes, o.chunk_size = chunk;
        pool_file f;
        f.create(o);
        std::map<scute_oid, bytes> all;
        for (uint64_t n = 1; n < 60000; n = n * 3 + 1) {
          const scute_oid oid = f.alloc(pattern(n, n));
          ASSERT_NE(oid, 0u) << scute_errormsg();
          all[oid] = pattern(n, n);
        }
        f.expect_sound();
        f.reopen();
        for (const auto& [oid, want] : all) EXPECT_TRUE(f.read(oid) == want);
      }
}

TEST_F(lifecycle, NoPoolThere) {
  SCUTE_FAILS(SCUTE_E_NOENT, open(path));
  SCUTE_FAILS(SCUTE_E_NOENT, open(path, SCUTE_READONLY));
  SCUTE_FAILS(SCUTE_E_NOENT, open(dir.file("no/pool")));
  SCUTE_FAILS(SCUTE_E_NOENT, create(dir.file("no/pool"), options()));
  EXPECT_EQ(dir.count(), 0u);
}

TEST_F(lifecycle, NotAPool) {
  for (const size_t n : {0, 1, 511, 512, 4096, 20000}) {
    write_file(path, bytes(n, 'x'));
    for (const uint32_t flags : {0u, uint32_t{SCUTE_READONLY}})
      SCUTE_FAILS(SCUTE_E_FORMAT, open(path, flags));
    EXPECT_TRUE(read_file(path) == bytes(n, 'x'));
  }
  std::filesystem::create_directory(dir.file("folder"));
  SCUTE_FAILS(SCUTE_E_FORMAT, open(dir.file("folder"), SCUTE_READONLY));
  SCUTE_FAILS(SCUTE_E_FORMAT, open(dir.file("folder")));
  SCUTE_FAILS(SCUTE_E_EXISTS, create(dir.file("folder"), options()));
  ASSERT_EQ(0, ::mkfifo(dir.file("fifo").c_str(), 0600));
  SCUTE_FAILS(SCUTE_E_FORMAT, open(dir.file("fifo")));
  SCUTE_FAILS(SCUTE_E_FORMAT, open(dir.file("fifo"), SCUTE_READONLY));
  SCUTE_FAILS(SCUTE_E_FORMAT, open("/dev/null"));
}

TEST_F(lifecycle, Truncated) {
  SCUTE_OKAY(create(path, options()));
  const bytes all = read_file(path);
  for (const size_t n :
       {all.size() - 1, all.size() - 4096, all.size() / 2, size_t{8192}, size_t{5000},
        size_t{4096 + 512}, size_t{4096}, size_t{600}, size_t{512}}) {
    write_file(path, bytes(all.begin(), all.begin() + static_cast<long>(n)));
    SCOPED_TRACE(n);
    for (const uint32_t flags : {0u, uint32_t{SCUTE_READONLY}})
      SCUTE_FAILS(SCUTE_E_TRUNCATED, open(path, flags));
  }
  for (const size_t n : {511, 100, 1, 0}) {
    write_file(path, bytes(all.begin(), all.begin() + n));
    SCUTE_FAILS(SCUTE_E_FORMAT, open(path));
  }
}

TEST_F(lifecycle, ATruncatedFileCanBeExtendedAndRepaired) {
  pool_file f;
  f.create(4 * mib);
  const scute_oid oid = f.alloc(pattern(1, 5000));
  f.close();
  std::filesystem::resize_file(f.path, 3 * mib + mib / 2);  // the last row and the last superblock
  EXPECT_EQ(SCUTE_E_TRUNCATED, f.try_open());
  std::filesystem::resize_file(f.path, 4 * mib);
  f.open();
  EXPECT_EQ(f.check(true).lost, 0u);
  f.expect_sound();
  EXPECT_TRUE(f.read(oid) == pattern(1, 5000));
}

TEST_F(lifecycle, AFileThatGrewStillOpens) {
  SCUTE_OKAY(create(path, options()));
  std::filesystem::resize_file(path, 3 * mib + 17);
  SCUTE_OKAY(open(path));
  SCUTE_OKAY(open(path, SCUTE_READONLY));
}

TEST_F(lifecycle, AllSuperblocksLost) {
  SCUTE_OKAY(create(path, options()));
  for (const uint64_t at : {uint64_t{0}, uint64_t{4096}, mib - 4096}) {
    const unsigned char x = 0x5a;
    write_at(path, at + 100, &x, 1);
  }
  SCUTE_FAILS(SCUTE_E_CORRUPT, open(path));
  const bytes zeros(512);
  for (const uint64_t at : {uint64_t{0}, uint64_t{4096}, mib - 4096})
    write_at(path, at, zeros.data(), 512);
  SCUTE_FAILS(SCUTE_E_FORMAT, open(path));
}

// SB-2.
TEST_F(lifecycle, OutdatedCopiesGiveWayToTheNewest) {
  SCUTE_OKAY(create(path, options()));
  const bytes old = read_at(path, 0, 512);
  SCUTE_OKAY(open(path));
  const bytes now = read_at(path, 4096, 512);
  ASSERT_FALSE(old == now);
  write_at(path, 0, old.data(), 512);  // no crash leaves one copy two writes older than both others
  pool_file f;
  SCUTE_OKAY(scute_open(path.c_str(), nullptr, &f.pool));
  EXPECT_EQ(f.info().clean, 1);
  EXPECT_EQ(f.info().repaired, 1u);
  f.close();
  EXPECT_TRUE(read_at(path, 0, 512) == read_at(path, 4096, 512));
}

// SB-3: a kill while the superblock is written, at any word of any copy, is no damage.
TEST_F(lifecycle, AKillBetweenSuperblockCopies) {
  SCUTE_OKAY(create(path, options()));
  const auto copies = [&] { return read_at(path, 0, 512); };
  std::vector<bytes> versions{copies()};
  for (int session = 0; session < 2; ++session) {
    SCUTE_OKAY(scute_open(path.c_str(), nullptr, &pool));
    versions.push_back(copies());
    close();
    versions.push_back(copies());
  }
  const uint64_t places[3] = {0, 4096, mib - 4096};
  const auto repaired = [&](const std::array<bytes, 3>& with) {
    for (int i = 0; i < 3; ++i) write_at(path, places[i], with[i].data(), 512);
    pool_file f;
    f.path = path;
    f.open(SCUTE_READONLY);
    return f.info().repaired;
  };
  for (size_t v = 0; v + 1 < versions.size(); ++v) {
    const bytes &old = versions[v], &fresh = versions[v + 1];
    for (size_t n = 0; n <= 512; n += 8) {
      SCOPED_TRACE(std::to_string(v) + " " + std::to_string(n));
      bytes torn = old;
      std::copy_n(fresh.begin(), n, torn.begin());
      EXPECT_EQ(repaired({torn, old, old}), 0u);
      EXPECT_EQ(repaired({fresh, torn, old}), 0u);
      EXPECT_EQ(repaired({fresh, fresh, torn}), 0u);
      if (v == 0) continue;  // after a kill in the session before, too
      EXPECT_EQ(repaired({old, fresh, versions[v - 1]}), 0u);
    }
    for (const size_t at : {0, 8, 40, 60, 130, 210, 228, 300, 508}) {
      SCOPED_TRACE(std::to_string(v) + " bit at " + std::to_string(at));
      bytes damaged = old;
      damaged[at] ^= 4;
      EXPECT_EQ(repaired({old, damaged, old}), 1u);
      EXPECT_EQ(repaired({damaged, damaged, old}), 2u);
    }
  }
}

TEST_F(lifecycle, NewerFormats) {
  SCUTE_OKAY(create(path, options()));
  edit_superblocks([](auto& sb) { sb.version = format::version + 1; });
  SCUTE_FAILS(SCUTE_E_VERSION, open(path));
  SCUTE_FAILS(SCUTE_E_VERSION, open(path, SCUTE_READONLY));
  edit_superblocks([](auto& sb) { sb.version = format::version, sb.incompat = uint64_t{1} << 40; });
  SCUTE_FAILS(SCUTE_E_VERSION, open(path));
  SCUTE_FAILS(SCUTE_E_VERSION, open(path, SCUTE_READONLY));
  edit_superblocks([](auto& sb) { sb.incompat = 0, sb.ro_compat = 1; });
  SCUTE_FAILS(SCUTE_E_VERSION, open(path));
  SCUTE_OKAY(open(path, SCUTE_READONLY));
  edit_superblocks([](auto& sb) { sb.ro_compat = 0, sb.compat = 8; });
  SCUTE_OKAY(open(path));
  // Overwriting a pool that this library cannot even read would destroy it.
  edit_superblocks([](auto& sb) { sb.version = 9; });
  scute_options o = options();
  o.flags = SCUTE_OVERWRITE;
  SCUTE_FAILS(SCUTE_E_VERSION, create(path, o));
}

TEST_F(lifecycle, Layouts) {
  scute_options o = options();
  o.layout = "bank";
  SCUTE_OKAY(create(path, o));
  SCUTE_OKAY(open(path));
  SCUTE_OKAY(open(path, 0, "bank"));
  SCUTE_FAILS(SCUTE_E_LAYOUT, open(path, 0, "Bank"));
  SCUTE_FAILS(SCUTE_E_LAYOUT, open(path, 0, ""));
  const std::string longest(63, 'n'), longer(64, 'n');
  o.layout = longer.c_str();
  SCUTE_FAILS(SCUTE_E_RANGE, create(dir.file("second"), o));
  EXPECT_EQ(dir.count(), 1u);
  o.layout = longest.c_str();
  SCUTE_OKAY(create(dir.file("second"), o));
  SCUTE_OKAY(open(dir.file("second"), 0, longest.c_str()));
}

TEST_F(lifecycle, CreateDoesNotReplace) {
  SCUTE_OKAY(create(path, options()));
  const bytes before = read_file(path);
  SCUTE_FAILS(SCUTE_E_EXISTS, create(path, options()));
  EXPECT_TRUE(read_file(path) == before);
}

TEST_F(lifecycle, OverwriteReplacesPoolsOnly) {
  scute_options o = options();
  o.flags = SCUTE_OVERWRITE;
  SCUTE_OKAY(create(path, o));  // nothing there yet
  const bytes before = read_at(path, 40, 16);
  SCUTE_OKAY(create(path, o));
  EXPECT_FALSE(read_at(path, 40, 16) == before) << "another pool, another uuid";
  write_file(dir.file("letter"), bytes(5000, 'x'));
  SCUTE_FAILS(SCUTE_E_EXISTS, create(dir.file("letter"), o));
  EXPECT_TRUE(read_file(dir.file("letter")) == bytes(5000, 'x'));
  // A truncated pool is a pool.
  std::filesystem::resize_file(path, 100000);
  SCUTE_OKAY(create(path, o));
  SCUTE_OKAY(open(path));
  // One in use is not replaced.
  SCUTE_OKAY(scute_open(path.c_str(), nullptr, &pool));
  scute_pool* second = nullptr;
  SCUTE_FAILS(SCUTE_E_BUSY, scute_create(path.c_str(), &o, &second));
  close();
}

TEST_F(lifecycle, AFailedOverwriteKeepsTheOldPool) {
  SCUTE_OKAY(create(path, options()));
  const bytes before = read_file(path);
  const std::string longer(64, 'n');
  scute_options o = options();
  o.flags = SCUTE_OVERWRITE;
  o.layout = longer.c_str();
  SCUTE_FAILS(SCUTE_E_RANGE, create(path, o));
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_TRUE(read_file(path) == before);
  o.layout = nullptr;
  o.medium = SCUTE_MEDIUM_DAX;
  if (create(path, o) != SCUTE_OK) {
    ASSERT_TRUE(std::filesystem::exists(path));
    EXPECT_TRUE(read_file(path) == before);
  }
  EXPECT_EQ(dir.count(), 1u);
}

TEST_F(lifecycle, CreateThatFailsLeavesNothing) {
  scute_options o = options();
  o.size = 12345;
  SCUTE_FAILS(SCUTE_E_RANGE, create(path, o));
  o = options();
  o.rows = 1000;
  SCUTE_FAILS(SCUTE_E_INVALID, create(path, o));
  o = options();
  o.flags = SCUTE_READONLY;
  SCUTE_FAILS(SCUTE_E_INVALID, create(path, o));
  o.flags = 1u << 20;
  SCUTE_FAILS(SCUTE_E_INVALID, create(path, o));
  o.flags = 0;
  o.mode = 01777;
  SCUTE_FAILS(SCUTE_E_INVALID, create(path, o));
  EXPECT_EQ(dir.count(), 0u);
}

TEST_F(lifecycle, PreallocateReservesEveryBlock) {
  scute_options o = options(80 * mib);
  o.flags = SCUTE_PREALLOCATE;
  struct seen {
    uint64_t calls = 0, last = 0, total = 0;
  } s;
  o.progress = [](void* arg, const char* what, uint64_t done, uint64_t total) {
    auto* to = static_cast<seen*>(arg);
    EXPECT_STREQ(what, "preallocate");
    EXPECT_GT(done, to->last);
    ++to->calls, to->last = done, to->total = total;
  };
  o.progress_arg = &s;
  SCUTE_OKAY(create(path, o));
  EXPECT_EQ(s.calls, 2u);
  EXPECT_EQ(s.last, s.total);
  EXPECT_EQ(s.total, 80 * mib);
  struct stat st{};
  ASSERT_EQ(0, ::stat(path.c_str(), &st));
  EXPECT_GE(st.st_blocks * 512, static_cast<off_t>(80 * mib));
}

TEST_F(lifecycle, CloseAbortsWhatOtherThreadsLeftOpen) {
  pool_file f;
  f.create();
  const scute_oid oid = f.alloc(pattern(1, 100));
  pool_file other;
  other.create();
  std::thread([&] {
    scute_tx* tx = nullptr;
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_begin(f, &tx));
    SCUTE_OKAY(scute_tx_open(tx, oid, &p));
    std::memset(p, 1, 100);
    SCUTE_OKAY(scute_tx_inplace(tx, f.alloc(pattern(2, 100)), 0, 1, &p));
    std::thread([&] { f.close(); }).join();
    // This thread's transaction is over; it may begin another elsewhere.
    SCUTE_FAILS(SCUTE_E_NOTX, scute_tx_commit(tx));
    EXPECT_EQ(scute_tx_current(other), nullptr);
    SCUTE_OKAY(scute_tx_begin(other, &tx));
    SCUTE_OKAY(scute_tx_commit(tx));
  }).join();
  f.open();
  EXPECT_EQ(f.info().clean, 1);
  EXPECT_TRUE(f.read(oid) == pattern(1, 100));
  f.expect_sound();
}

TEST_F(lifecycle, NullsAreRefused) {
  const scute_options o = options();
  SCUTE_FAILS(SCUTE_E_INVALID, scute_create(nullptr, &o, &pool));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_create(path.c_str(), &o, nullptr));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_open(nullptr, &o, &pool));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_open(path.c_str(), &o, nullptr));
  SCUTE_OKAY(scute_close(nullptr));
  scute_options unset{};
  SCUTE_FAILS(SCUTE_E_INVALID, scute_create(path.c_str(), &unset, &pool));
  EXPECT_EQ(dir.count(), 0u);
}

}  // namespace
}  // namespace scute::test
