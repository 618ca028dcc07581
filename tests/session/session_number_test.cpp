// SPDX-License-Identifier: BSD-3-Clause
// LOGFILE-8, SESSION-1, SESSION-2: copies of a pool whose epochs are the same and whose sessions
// are not; and what libraries that know no numbers make of them.
#include "core/shared/pool/session_number.hpp"

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <functional>

#include "codec/checksum/crc32c.hpp"
#include "core/shared/pool/superblock.hpp"
#include "session/log_file.hpp"
#include "support/shielded.hpp"

namespace scute::test {
namespace {

namespace fs = std::filesystem;
using pool::session_number;

// Of all copies.
void edit_superblock(const std::string& path, const std::function<void(format::superblock&)>& how) {
  bytes all = read_file(path);
  format::superblock sb;
  std::memcpy(&sb, all.data(), sizeof sb);
  how(sb);
  sb.checksum = pool::superblock_checksum(sb);
  for (const uint64_t at : {uint64_t{0}, uint64_t{4096}, sb.file_size - 4096})
    std::memcpy(all.data() + at, &sb, sizeof sb);
  write_file(path, all);
}
template <typename T>
void put(T& to, uint64_t number, uint64_t before) {
  session_number n{number, before, 0, 0};
  n.check = codec::crc32c_linear(&n, offsetof(session_number, check));
  std::memcpy(to.reserved, &n, sizeof n);
}
format::superblock superblock_of(const std::string& path) {
  format::superblock sb;
  std::memcpy(&sb, read_at(path, 0, sizeof sb).data(), sizeof sb);
  return sb;
}

TEST(session_number, IsInTheSuperblockAndInTheHead) {
  disk_pool f;
  uint64_t last = 0;
  for (unsigned k = 1; k < 4; ++k) {
    f.change(k);
    f.kill();
    const session_number mine = pool::session_of(superblock_of(f.path));
    format::log_file_head h;
    std::memcpy(&h, read_at(f.log, 0, sizeof h).data(), sizeof h);
    EXPECT_NE(mine.number, 0U);
    EXPECT_EQ(pool::session_of(h).number, mine.number);
    EXPECT_EQ(pool::session_of(h).before, mine.before);
    if (k > 1) {
      EXPECT_EQ(mine.before, last);
    }
    last = mine.number;
    f.open();
    f.expect_last();
  }
}

// Two copies, killed in the same session, and their logs swapped. Each used to be opened with the
// other one's data.
TEST(session_number, DistinguishesTwoCopiesOfAPool) {
  for (const bool announced : {false, true}) {
    SCOPED_TRACE(announced ? "the log is coming" : "the log is in use");
    disk_pool f, g;
    f.change(1);
    f.close();
    g.kill();
    write_file(g.path, read_file(f.path));
    write_file(g.log, read_file(f.log));
    g.objects = f.objects;
    f.open();
    f.change(2);
    f.kill();
    g.open();
    g.change(3);
    g.kill();
    if (announced) {
      // As an opening leaves it that is killed before the superblock.
      for (const auto* p : {&f, &g})
        edit_head(p->log, [&](format::log_file_head& h) {
          const uint64_t before = pool::session_of(h).number;
          ++h.epoch;
          ++h.number;
          h.state = static_cast<uint32_t>(format::log_file_state::coming);
          put(h, uint64_t{77} << 16 | static_cast<uint16_t>(h.epoch), before);
        });
    }
    const bytes of_f = read_file(f.log), of_g = read_file(g.log);
    write_file(f.log, of_g);
    write_file(g.log, of_f);
    f.expect_refused(SCUTE_E_CORRUPT, "another copy of the pool");
    g.expect_refused(SCUTE_E_CORRUPT, "another copy of the pool");
    write_file(f.log, of_f);
    write_file(g.log, of_g);
    f.open();
    f.expect_last();
    g.open();
    g.expect_last();
  }
}

// The same, and one of the two was closed. The killed one refuses the log of the other. The closed
// one is as it was when it was closed, and the log of the other one is set aside.
TEST(session_number, DistinguishesTwoCopiesOfWhichOneWasClosed) {
  disk_pool f, g;
  f.change(1);
  f.close();
  const bytes base = read_file(f.path), base_log = read_file(f.log);
  g.kill();
  g.objects = f.objects;
  for (const bool of_killed_into_closed : {false, true}) {
    SCOPED_TRACE(of_killed_into_closed);
    for (disk_pool* p : {&f, &g}) {
      write_file(p->path, base);
      write_file(p->log, base_log);
      p->open();
      p->change(p == &f ? 2 : 3);
      p->pool->in->drain();
      if (p == &f)
        p->close();
      else
        p->kill();
    }
    const bytes of_f = read_file(f.log), of_g = read_file(g.log);
    if (of_killed_into_closed) {
      write_file(f.log, of_g);
      f.open();
      f.expect_last();
      EXPECT_EQ(read_file(f.log + ".foreign"), of_g);
      f.survive(4);
    } else {
      write_file(g.log, of_f);
      g.expect_refused(SCUTE_E_CORRUPT, "another copy of the pool");
      write_file(g.log, of_g);
      g.open();
      g.expect_last();
      g.survive(5);
    }
  }
}

TEST(session_number, DistinguishesTwoCopiesOfAShield) {
  shielded f(scratch::disk);
  f.make(300000);
  f.add(shielded::options(SCUTE_ENGINE_SPEC));
  const std::string sidecar = f.path + ".scute", log = sidecar + ".log";
  const bytes closed = read_file(sidecar), closed_log = read_file(log);
  f.open();
  f.write(1000, pattern(5, 3000));
  f.in().abandon();
  f.close();
  const bytes mine = read_file(sidecar), mine_log = read_file(log);
  // The file keeps its inode, and gets its old content back.
  write_file(sidecar, closed);
  write_file(log, closed_log);
  const int adopted = f.try_open(SCUTE_DAMAGED);
  ASSERT_EQ(adopted, SCUTE_OK) << scute_errormsg();
  f.write(9000, pattern(6, 3000));
  f.in().abandon();
  f.close();
  const bytes other = read_file(sidecar), other_log = read_file(log);
  const auto refused = [&](const bytes& pool, const bytes& its_log, const char* words) {
    SCOPED_TRACE(words);
    const bytes file = read_file(f.path);
    write_file(sidecar, pool);
    write_file(log, its_log);
    SCUTE_FAILS(SCUTE_E_CORRUPT, f.try_open());
    EXPECT_THAT(scute_errormsg(), testing::HasSubstr(words));
    EXPECT_TRUE(read_file(f.path) == file);
    EXPECT_TRUE(read_file(sidecar) == pool);
    EXPECT_TRUE(read_file(log) == its_log);
  };
  refused(mine, other_log, "another copy of the pool");
  refused(other, mine_log, "another copy of the pool");
  refused(mine, closed_log, "is older than the pool");
  refused(other, closed_log, "is older than the pool");
  write_file(sidecar, other);
  write_file(log, other_log);
  f.open();
  EXPECT_EQ(f.read(9000, 3000), pattern(6, 3000));
  f.write(20000, pattern(7, 3000));
  const bytes newer_log = read_file(log);
  f.in().abandon();
  f.close();
  refused(mine, newer_log, "is newer than the pool");
  write_file(sidecar, mine);
  write_file(log, mine_log);
  f.open();
  EXPECT_EQ(f.read(1000, 3000), pattern(5, 3000));
}

// SESSION-2: a library that knows no numbers writes zeros, or keeps what it finds, in one of the
//            two or in both.
TEST(session_number, ThatAnOlderLibraryHasDroppedOrKeptMakesNoLogUnfit) {
  const auto drop = [](auto& x) { put(x, 0, 0); };
  const auto zero = [](auto& x) { std::memset(x.reserved, 0, sizeof x.reserved); };
  // Of sessions before: those that the older library had them from may have been different ones.
  const auto kept = [](uint64_t random) {
    return [random](auto& x) {
      put(x, random << 16 | static_cast<uint16_t>(x.epoch - 1),
          random << 16 | static_cast<uint16_t>(x.epoch - 2));
    };
  };
  const auto none = [](auto&) {};
  struct case_of {
    const char* what;
    std::function<void(format::superblock&)> superblock;
    std::function<void(format::log_file_head&)> head;
  };
  const case_of all[] = {{"dropped in the superblock", zero, none},
                         {"dropped in the head", none, zero},
                         {"dropped in both", zero, zero},
                         {"written as nothing", drop, drop},
                         {"kept in the superblock", kept(3), none},
                         {"kept in the head", none, kept(4)},
                         {"kept in both", kept(3), kept(4)},
                         {"kept in one, dropped in the other", kept(3), zero}};
  for (const case_of& c : all) {
    SCOPED_TRACE(c.what);
    disk_pool f;
    f.change(1);
    f.kill();
    edit_superblock(f.path, c.superblock);
    edit_head(f.log, c.head);
    f.open();
    f.expect_last();
    // And the next sessions have numbers again.
    f.survive(2);
    f.open();
    f.survive(3);
    EXPECT_NE(pool::session_of(superblock_of(f.path)).before, 0U);
  }
}

// An older library takes over a log that a newer one, which was killed in an opening, had announced
// the next session in.
TEST(session_number, OfASessionThatNeverCameMakesNoLogUnfit) {
  disk_pool f;
  f.change(1);
  f.kill();
  edit_head(f.log, [](format::log_file_head& h) {
    ++h.epoch;
    put(h, uint64_t{99} << 16 | static_cast<uint16_t>(h.epoch), pool::session_of(h).number);
  });
  edit_superblock(f.path, [](format::superblock& sb) { ++sb.epoch; });  // with the number of before
  f.open();
  f.expect_last();
}

// SESSION-3
TEST(session_number, DoesNotChangeTheChecksumOfASuperblock) {
  format::superblock sb{};
  const uint32_t without = pool::superblock_checksum(sb);
  for (const uint64_t random : {uint64_t{1}, uint64_t{0x123456789abc}}) {
    put(sb, random << 16, random << 24);
    EXPECT_EQ(pool::superblock_checksum(sb), without);
  }
}

}  // namespace
}  // namespace scute::test
