// SPDX-License-Identifier: BSD-3-Clause
// A file that was changed without Scute: which states are accepted or refused, and how the
// caller continues (IDENT-1 to IDENT-3).
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <utime.h>

#include "support/child.hpp"
#include "support/shielded.hpp"

namespace scute::test {
namespace {

namespace fs = std::filesystem;

class identity : public ::testing::TestWithParam<scratch::where> {
 protected:
  identity() : f(GetParam()) {}
  void add(size_t n = 300001) {
    f.make(n);
    f.add();
  }
  void touch() { ASSERT_EQ(::utime(f.path.c_str(), nullptr), 0); }
  void expect_refused(uint32_t flags = 0) {
    const bytes before = read_file(f.path), sidecar = read_file(f.sidecar());
    SCUTE_FAILS(SCUTE_E_CHANGED, f.try_open(flags));
    EXPECT_NE(std::string(scute_errormsg()).find("adopt"), std::string::npos);
    SCUTE_FAILS(SCUTE_E_CHANGED, f.try_open(flags | SCUTE_READONLY));
    EXPECT_TRUE(read_file(f.path) == before);
    EXPECT_TRUE(read_file(f.sidecar()) == sidecar);
  }
  // A session that is killed with the pool open.
  void kill_session() {
    child killed([&] { ::_exit(f.try_open() == SCUTE_OK ? 0 : 1); });
    ASSERT_EQ(killed.wait(), 0);
  }
  shielded f;
};

TEST_P(identity, TimesAloneAreNothing) {
  add();
  touch();
  f.open();
  f.expect_content();
  f.close();
  touch();
  f.open(SCUTE_READONLY);
  f.expect_content();
  f.close();
  // A copy of the same bytes is another file.
  fs::copy_file(f.path, f.path + ".copy");
  fs::rename(f.path + ".copy", f.path);
  f.open();
  f.expect_content();
  f.expect_sound();
}

TEST_P(identity, OtherBytesAreRefusedUntilAdopted) {
  add();
  f.flip(123456);
  expect_refused();
  SCUTE_OKAY(scute_shield_adopt(f.path.c_str(), nullptr, 0, 0));
  f.content[123456] ^= 0x40;
  f.open();
  f.expect_content();
  f.expect_sound();
}

TEST_P(identity, OtherBytesAreRepairedAsDamage) {
  add();
  f.flip(123456);
  f.flip(299999);
  expect_refused();
  f.open(SCUTE_DAMAGED);
  EXPECT_EQ(f.check(true).lost, 0u);
  f.expect_content();
  f.close();
  f.open();
  f.expect_content();
  f.expect_sound();
}

TEST_P(identity, OtherSizesAreRefused) {
  add();
  fs::resize_file(f.path, 300002);
  expect_refused();
  expect_refused(SCUTE_DAMAGED);
  fs::resize_file(f.path, 300001);
  f.open();
  f.expect_content();
  f.close();
  // The bytes that were cut off come back as damage, but only on request.
  fs::resize_file(f.path, 298000);
  expect_refused();
  f.open(SCUTE_DAMAGED);
  EXPECT_EQ(f.check(true).lost, 0u);
  f.expect_content();
  f.close();
  f.open();
  f.expect_content();
  f.close();
  fs::resize_file(f.path, 100000);
  SCUTE_OKAY(scute_shield_adopt(f.path.c_str(), nullptr, 0, 0));
  f.content.resize(100000);
  f.open();
  f.expect_content();
  f.expect_sound();
}

// IDENT-2: after an unclean end the times say nothing, and what differs is damage.
TEST_P(identity, AfterAnUncleanEnd) {
  add();
  kill_session();
  touch();
  f.flip(5000);
  f.open();
  EXPECT_EQ(f.state().size, 300001u);
  f.expect_content();
  f.close();
  kill_session();
  fs::copy_file(f.path, f.path + ".copy");
  fs::rename(f.path + ".copy", f.path);
  expect_refused();
  expect_refused(SCUTE_DAMAGED);
  SCUTE_FAILS(SCUTE_E_CHANGED, scute_shield_remove(f.path.c_str(), nullptr));
  EXPECT_TRUE(f.is_shielded());
  SCUTE_OKAY(scute_shield_adopt(f.path.c_str(), nullptr, 0, 0));
  f.open();
  f.expect_content();
  f.close();
  kill_session();
  fs::resize_file(f.path, 300000);
  expect_refused();
  expect_refused(SCUTE_DAMAGED);
}

// USER-2: another program puts another file in the place of the one that is in use.
TEST_P(identity, ReplacedWhileOpen) {
  add();
  f.open();
  fs::rename(f.path, f.path + ".kept");
  write_file(f.path, pattern(9, 300001));
  f.expect_sound();
  const bytes b = pattern(10, 5000);
  const scute_shield_change c{100, b.data(), b.size()};
  SCUTE_OKAY(scute_shield_write(f.pool, &c, 1));
  f.close();
  EXPECT_TRUE(read_file(f.path) == pattern(9, 300001));
  expect_refused();
  fs::rename(f.path + ".kept", f.path);
  std::copy(b.begin(), b.end(), f.content.begin() + 100);
  f.open();
  f.expect_content();
  f.expect_sound();
}

TEST_P(identity, SidecarsOfOthers) {
  add();
  shielded other(GetParam());
  other.make(300001, 2);
  other.add();
  // Of another file: same size, other bytes.
  fs::copy_file(other.sidecar(), f.path + ".mine");
  fs::rename(f.sidecar(), f.path + ".kept");
  fs::rename(f.path + ".mine", f.sidecar());
  expect_refused();
  // No pool, an ordinary pool, nothing.
  write_file(f.sidecar(), bytes(100000));
  SCUTE_FAILS(SCUTE_E_FORMAT, f.try_open());
  SCUTE_FAILS(SCUTE_E_FORMAT, scute_shield_adopt(f.path.c_str(), nullptr, 0, 0));
  fs::remove(f.sidecar());
  SCUTE_FAILS(SCUTE_E_NOENT, f.try_open());
  SCUTE_FAILS(SCUTE_E_NOENT, scute_shield_adopt(f.path.c_str(), nullptr, 0, 0));
  SCUTE_FAILS(SCUTE_E_NOENT, scute_shield_remove(f.path.c_str(), nullptr));
  scute_pool* pool = nullptr;
  const scute_options o = options();
  SCUTE_OKAY(scute_create(f.sidecar().c_str(), &o, &pool));
  SCUTE_OKAY(scute_close(pool));
  // (OUTLOOK-2)
  const bytes own = read_file(f.sidecar());
  SCUTE_FAILS(SCUTE_E_EXISTS, scute_shield_adopt(f.path.c_str(), nullptr, 0, 0));
  SCUTE_FAILS(SCUTE_E_EXISTS, scute_shield_add(f.path.c_str(), nullptr, 0, 0));
  SCUTE_FAILS(SCUTE_E_INVALID, f.try_open());
  SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_remove(f.path.c_str(), nullptr));
  EXPECT_TRUE(own == read_file(f.sidecar()));
  fs::remove(f.sidecar());
  fs::rename(f.path + ".kept", f.sidecar());
  f.open();
  f.expect_content();
  f.close();
  // The file is missing, or the sidecar has a name that says nothing.
  fs::rename(f.path, f.path + ".elsewhere");
  SCUTE_FAILS(SCUTE_E_NOENT, f.try_open());
  fs::rename(f.path + ".elsewhere", f.path);
  fs::copy_file(f.sidecar(), f.path + ".odd");
  SCUTE_FAILS(SCUTE_E_FORMAT, scute_open((f.path + ".odd").c_str(), nullptr, &pool));
  f.open();
  f.expect_content();
}

INSTANTIATE_TEST_SUITE_P(Media, identity, ::testing::Values(scratch::memory, scratch::disk),
                         [](const auto& p) {
                           return std::string(p.param == scratch::disk ? "disk" : "memory");
                         });

}  // namespace
}  // namespace scute::test
