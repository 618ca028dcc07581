// SPDX-License-Identifier: BSD-3-Clause
// Pages of a log file that cannot be read (LOGFILE-5): another page has what they had; and since no
// part of such a page can be written, they are written as a whole, by openings and by scrubs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "hostile/bad_sectors.hpp"
#include "support/page.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
namespace {

constexpr uint64_t chunks = 4 * page;

scute_options on_disk() {
  scute_options o = options(2 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC});
  o.medium = SCUTE_MEDIUM_FILE;
  o.lanes = 4;
  return o;
}

class pages_of_a_log : public testing::Test {
 protected:
  pages_of_a_log() : f(scratch::disk), log(f.path + ".log") {
    const scute_options o = on_disk();
    f.create(o);
    for (unsigned i = 0; i < 4; ++i) oids.push_back(f.alloc(pattern(i, 300 + i * 900)));
    SCUTE_OKAY_E(scute_drain(f));
  }
  void change(unsigned by) {
    for (unsigned i = 0; i < 4; ++i) f.overwrite(oids[i], pattern(by * 10 + i, 300 + i * 900));
    last = by;
  }
  void expect_last() {
    for (unsigned i = 0; i < 4; ++i)
      EXPECT_EQ(f.read(oids[i]), pattern(last * 10 + i, 300 + i * 900)) << i;
    f.expect_sound();
  }
  int open(uint32_t flags = 0) {
    scute_options o = opening(0, SCUTE_MEDIUM_FILE);
    o.flags = flags;
    return scute_open(f.path.c_str(), &o, &f.pool);
  }
  void kill() {
    f.in().abandon();
    f.close();
  }
  std::vector<uint64_t> used_pages() const {
    std::vector<uint64_t> used;
    const bytes b = read_file(log);
    for (uint64_t at = 0; at < b.size(); at += page)
      if (!std::all_of(b.begin() + static_cast<long>(at), b.begin() + static_cast<long>(at + page),
                       [](unsigned char x) { return x == 0; }))
        used.push_back(at);
    return used;
  }

  pool_file f;
  const std::string log;
  std::vector<scute_oid> oids;
  unsigned last = 0;
};

// Each one alone, of a pool that was killed. Nothing is lost, and the page is good again.
TEST_F(pages_of_a_log, AnyOneOfAKilledPool) {
  change(1);
  change(2);
  kill();
  const bytes pool = read_file(f.path), content = read_file(log);
  const std::vector<uint64_t> used = used_pages();
  ASSERT_GE(used.size(), 6U);
  for (const uint64_t at : used) {
    SCOPED_TRACE(at);
    write_file(f.path, pool);
    write_file(log, content);
    last = 2;
    bad_sectors bad(log, {at});
    // A session that only reads changes nothing.
    SCUTE_OKAY(open(SCUTE_READONLY));
    expect_last();
    f.close();
    EXPECT_EQ(bad.left(), 1U);
    EXPECT_EQ(read_file(f.path), pool);
    SCUTE_OKAY(open());
    expect_last();
    EXPECT_EQ(bad.left(), 0U);
    change(3);
    kill();
    SCUTE_OKAY(open());
    expect_last();
    f.close();
  }
}

// Of a pool that was closed: the first pages are good again at once; another one ends the session
// that comes to it, at the latest, and is good again when the pool is opened after that.
TEST_F(pages_of_a_log, AnyOneOfAClosedPool) {
  change(1);
  f.close();
  const bytes pool = read_file(f.path), content = read_file(log);
  for (const uint64_t at : used_pages()) {
    SCOPED_TRACE(at);
    write_file(f.path, pool);
    write_file(log, content);
    last = 1;
    bad_sectors bad(log, {at});
    SCUTE_OKAY(open());
    expect_last();
    if (at < chunks) {
      EXPECT_EQ(bad.left(), 0U);
      change(2);
      expect_last();
    } else {
      // A scrub finds it before any reader does.
      EXPECT_GE(f.check(true).repaired, 1U);
      EXPECT_EQ(bad.left(), 0U);
      change(2);
      expect_last();
    }
    kill();
    SCUTE_OKAY(open());
    expect_last();
    f.close();
  }
}

// No scrub has run before.
TEST_F(pages_of_a_log, ACommitThatComesToOneEndsTheSession) {
  change(1);
  f.close();
  std::set<uint64_t> all;
  for (const uint64_t at : used_pages())
    if (at >= chunks) all.insert(at);
  ASSERT_FALSE(all.empty());
  bad_sectors bad(log, all);
  SCUTE_OKAY(open());
  scute_tx* tx = nullptr;
  void* to = nullptr;
  SCUTE_OKAY(scute_tx_begin(f.pool, &tx));
  SCUTE_OKAY(scute_tx_open(tx, oids[0], &to));
  std::memcpy(to, pattern(99, 300).data(), 300);
  SCUTE_FAILS(SCUTE_E_IO, scute_tx_commit(tx));
  kill();
  SCUTE_OKAY(open());
  EXPECT_EQ(bad.left(), 0U);
  expect_last();
  change(2);
  kill();
  SCUTE_OKAY(open());
  expect_last();
}

// Both copies of data that only the log has are bad: the loss is reported, and nothing is guessed.
// If both heads are bad, the log is refused, as any log that cannot be read.
TEST_F(pages_of_a_log, BothCopies) {
  change(1);
  kill();
  const bytes pool = read_file(f.path), content = read_file(log);
  {
    bad_sectors bad(log, {0, page});
    SCUTE_FAILS(SCUTE_E_CORRUPT, open());
    f.pool = nullptr;
    EXPECT_EQ(bad.left(), 2U);
  }
  EXPECT_EQ(read_file(f.path), pool);
  std::set<uint64_t> all;
  for (const uint64_t at : used_pages())
    if (at >= chunks) all.insert(at);
  bad_sectors bad(log, all);
  SCUTE_OKAY(open());
  EXPECT_GT(f.info().lost, 0U);
  EXPECT_EQ(bad.left(), 0U);
}

}  // namespace
}  // namespace scute::test
