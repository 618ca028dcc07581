// SPDX-License-Identifier: BSD-3-Clause
// A log file that is gone, or that something else has taken the place of: what a closed pool makes
// of that, and an unclean one whose opener does without the log; and how long the file is.
#include <sys/stat.h>

#include <span>
#include <thread>

#include "session/log_file.hpp"
#include "support/page.hpp"
#include "support/power_failure.hpp"
#include "support/wait.hpp"

namespace scute::test {
namespace {

namespace fs = std::filesystem;
// LOGFILE-2
TEST(log_file_lost, IsMadeAgainWithTheChosenSize) {
  scute_options how = on_disk();
  how.log_cap = mib;
  disk_pool f(how);
  const uint64_t cap = f.info().log_cap, size = fs::file_size(f.log);
  f.change(1);
  f.close();
  fs::remove(f.log);
  f.open();
  EXPECT_EQ(f.info().log_cap, cap);
  EXPECT_EQ(fs::file_size(f.log), size);
  f.expect_last();
  // After an engine switch has moved it into the pool and back, it has the default size again:
  // no caller has chosen another size.
  f.close();
  for (const scute_engine to : {SCUTE_ENGINE_REDO, SCUTE_ENGINE_SPEC}) {
    const scute_options any = opening();
    SCUTE_OKAY(scute_set_engine(f.path.c_str(), &any, to));
  }
  f.open();
  EXPECT_NE(f.info().log_cap, cap);
  f.expect_last();
}

// An entry that is no file is not removed, and blocks nothing.
TEST(log_file_lost, AClosedPoolOpensWhateverIsInItsPlace) {
  using make_fn = void (*)(const std::string&);
  const make_fn all[] = {
      [](const std::string& at) { fs::create_directory(at), write_file(at + "/mine", {1, 2}); },
      [](const std::string& at) { ASSERT_EQ(::mkfifo(at.c_str(), 0600), 0); }};
  for (const bool at_coming : {false, true})
    for (const make_fn make : all) {
      disk_pool f;
      f.change(1);
      f.close();
      const std::string place = f.log + (at_coming ? ".new" : "");
      fs::remove(f.log);
      make(place);
      const fs::file_type was = fs::status(place).type();
      f.open();
      f.expect_last();
      f.survive(2);
      EXPECT_EQ(fs::status(f.log).type(), fs::file_type::regular);
      EXPECT_EQ(fs::status(place + ".foreign").type(), was);
      if (was == fs::file_type::directory) {
        EXPECT_EQ(read_file(place + ".foreign/mine"), (bytes{1, 2}));
      }
    }
}

TEST(log_file_lost, AnUncleanPoolSaysWhatIsInItsPlace) {
  disk_pool f;
  f.change(1);
  f.kill();
  fs::rename(f.log, f.log + ".kept");
  fs::create_directory(f.log);
  SCUTE_FAILS(SCUTE_E_FORMAT, f.open_how());
  EXPECT_THAT(scute_errormsg(), testing::HasSubstr("is no file"));
  f.pool = nullptr;
  fs::remove(f.log);
  fs::rename(f.log + ".kept", f.log);
  f.open();
  f.expect_last();
}

// All that the process had stored is in the page cache, so nothing is missing.
TEST(log_file_lost, AnUncleanPoolIsOpenedWithoutItIfThatIsAskedFor) {
  for (const scute_protection level :
       {SCUTE_PROTECT_NONE, SCUTE_PROTECT_ML, SCUTE_PROTECT_MLP, SCUTE_PROTECT_MLPC}) {
    disk_pool f(on_disk(level));
    f.change(1);
    SCUTE_OKAY(scute_drain(f));
    f.change(2);
    f.kill();
    fs::remove(f.log);
    f.expect_refused(SCUTE_E_CORRUPT, "is missing");
    SCUTE_FAILS(SCUTE_E_CORRUPT, f.open_how());
    EXPECT_THAT(scute_errormsg(), testing::HasSubstr("--without-log"));
    SCUTE_FAILS(SCUTE_E_INVALID, f.open_how(SCUTE_READONLY | SCUTE_WITHOUT_LOG));
    SCUTE_OKAY(f.open_how(SCUTE_WITHOUT_LOG));
    EXPECT_EQ(f.check(true).lost, 0u);
    EXPECT_EQ(f.info().engine, SCUTE_ENGINE_SPEC);
    f.expect_last();
    // It says so for as long as its events reach back.
    bool marked = false;
    SCUTE_OKAY(scute_events(
        f,
        [](void* arg, const scute_event* e) {
          if (e->kind == SCUTE_EVENT_LOG && e->outcome == SCUTE_OUTCOME_LOST)
            *static_cast<bool*>(arg) = true;
        },
        &marked));
    EXPECT_TRUE(marked);
    f.survive(3);
    f.open();
    f.expect_last();
  }
}

// The power failed: of the pages some are as they were at the last checkpoint. Every object is a
// version of it, or is named as lost.
TEST(log_file_lost, WhatIsMissingWithoutItIsNamed) {
  disk_pool f;
  f.change(1);
  SCUTE_OKAY(scute_drain(f));
  const bytes checkpointed = read_file(f.path);
  f.change(2);
  bytes image = read_file(f.path);
  uint64_t k = 0;
  // (The superblocks are durable: the first page, the second, and the last one.)
  for (uint64_t at = 2 * page; at + 2 * page < image.size(); at += page, ++k)
    if (k % 3 != 0)
      std::copy_n(checkpointed.begin() + static_cast<long>(at), page,
                  image.begin() + static_cast<long>(at));
  f.kill();
  write_file(f.path, image);
  fs::remove(f.log);
  SCUTE_OKAY(f.open_how(SCUTE_WITHOUT_LOG));
  const scute_report r = f.check(true);
  uint64_t lost = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const void* at = nullptr;
    const int e = scute_get_verified(f, f.objects[i], &at);
    if (e != SCUTE_OK) {
      EXPECT_EQ(e, SCUTE_E_CORRUPT);
      ++lost;
      continue;
    }
    const bytes is = f.read(f.objects[i]);
    EXPECT_TRUE(is == pattern(10 + i, is.size()) || is == pattern(20 + i, is.size())) << i;
  }
  EXPECT_EQ(lost == 0, r.lost == 0);
  EXPECT_EQ(f.check(true).damaged, r.lost);
}

// A log that fits is not given up, whatever the flag says; one that does not is set aside.
TEST(log_file_lost, AFittingOneIsUsedAllTheSame) {
  disk_pool f;
  f.change(1);
  const bytes old = read_file(f.log);
  f.close();
  f.open();
  f.change(2);
  f.kill();
  const bytes pool = read_file(f.path);
  SCUTE_OKAY(f.open_how(SCUTE_WITHOUT_LOG));
  EXPECT_EQ(f.check().damaged, 0u);
  f.expect_last();
  f.close();
  write_file(f.path, pool);
  write_file(f.log, old);
  SCUTE_OKAY(f.open_how(SCUTE_WITHOUT_LOG));
  EXPECT_EQ(read_file(f.log + ".foreign"), old);
  f.check(true);
  f.expect_last();
}

// Files that are set aside are kept, however many. The files that a killed opening made are
// removed.
TEST(log_file_lost, EachOneThatIsGivenUpIsKept) {
  disk_pool f;
  f.change(1);
  f.close();
  for (unsigned n = 1; n <= 3; ++n) {
    SCOPED_TRACE(n);
    f.open();
    f.change(f.last + 1);
    f.kill();
    write_file(f.log, pattern(n, 5000));
    SCUTE_OKAY(f.open_how(SCUTE_WITHOUT_LOG));
    f.check(true);
    f.kill();
    SCUTE_OKAY(f.open_how(SCUTE_WITHOUT_LOG));
    f.close();
    for (unsigned k = 1; k <= n; ++k)
      EXPECT_EQ(read_file(f.log + ".foreign" + (k == 1 ? "" : "." + std::to_string(k))),
                pattern(k, 5000));
    EXPECT_EQ(f.dir.count(), 2U + n);
  }
}

// A hundred at most: an opening does not fill the folder.
TEST(log_file_lost, NoNameLeftRefusesAndTouchesNothing) {
  disk_pool f;
  f.change(1);
  f.close();
  for (unsigned k = 1; k <= 100; ++k)
    write_file(f.log + ".foreign" + (k == 1 ? "" : "." + std::to_string(k)), {1});
  write_file(f.log, pattern(7, 5000));
  SCUTE_FAILS(SCUTE_E_EXISTS, f.open_how());
  f.pool = nullptr;
  EXPECT_EQ(read_file(f.log), pattern(7, 5000));
  fs::remove(f.log + ".foreign.50");
  f.open();
  f.expect_last();
  EXPECT_EQ(read_file(f.log + ".foreign.50"), pattern(7, 5000));
}

// ROOM-9
void write_much(pool_file& f, std::span<const scute_oid> many) {
  transaction tx(f);
  for (const scute_oid oid : many) {
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_open(tx, oid, &p));
    std::memset(p, 7, 40000);
  }
  SCUTE_OKAY(tx.commit());
}

TEST(log_file_length, RoomForALargeTransactionGoesBack) {
  for (const bool by_closing : {false, true}) {
    disk_pool f;
    const uint64_t before = fs::file_size(f.log);
    std::vector<scute_oid> many;
    for (unsigned i = 0; i < 12; ++i) many.push_back(f.alloc(pattern(i, 40000)));
    if (by_closing) f.in().idle.stop();
    write_much(f, many);
    if (by_closing) {
      EXPECT_GT(fs::file_size(f.log), before);
      f.close();
    } else {
      wait_until([&] { return fs::file_size(f.log) == before; });
    }
    EXPECT_EQ(fs::file_size(f.log), before);
    if (by_closing) f.open();
    for (const scute_oid oid : many) EXPECT_EQ(f.read(oid), bytes(40000, 7));
    f.expect_sound();
  }
}

// LOGFILE-6: the pool was killed after a transaction that its log had grown for, and its log was
// copied in part. The newest transactions are in what is missing.
TEST(log_file_length, AGrownOneThatIsCutShortIsRefused) {
  disk_pool f;
  f.change(1);
  const uint64_t before = fs::file_size(f.log);
  std::vector<scute_oid> many;
  for (unsigned i = 0; i < 12; ++i) many.push_back(f.alloc(pattern(i, 40000)));
  f.in().idle.stop();
  write_much(f, many);
  f.kill();
  const bytes pool = read_file(f.path), log = read_file(f.log);
  ASSERT_GT(log.size(), before);
  unsigned cuts = 0;
  for (uint64_t size = before; size < log.size(); size += page, ++cuts) {
    write_file(f.log, {log.begin(), log.begin() + static_cast<long>(size)});
    SCUTE_FAILS(SCUTE_E_TRUNCATED, f.open_how());
    f.pool = nullptr;
    ASSERT_EQ(fs::file_size(f.log), size) << "nothing is changed";
  }
  EXPECT_GT(cuts, 3U);
  EXPECT_EQ(read_file(f.path), pool);
  write_file(f.log, log);
  f.open();
  for (const scute_oid oid : many) EXPECT_EQ(f.read(oid), bytes(40000, 7));
  f.expect_sound();
  // It is closed properly with the length that it was made with.
  f.close();
  EXPECT_EQ(fs::file_size(f.log), before);
  f.open();
  f.expect_sound();
}

// A lost or damaged copy of the head takes nothing with it.
TEST(log_file_length, EitherCopyOfItsHeadIsEnough) {
  for (const uint64_t damaged : {uint64_t{0}, page}) {
    disk_pool f;
    f.change(1);
    std::vector<scute_oid> many;
    for (unsigned i = 0; i < 12; ++i) many.push_back(f.alloc(pattern(i, 40000)));
    f.in().idle.stop();
    write_much(f, many);
    EXPECT_EQ(f.check(true).damaged, 0U) << "its two copies may differ";
    write_much(f, many);
    f.kill();
    bytes log = read_file(f.log);
    std::fill_n(log.begin() + static_cast<long>(damaged), page, static_cast<unsigned char>(0xee));
    write_file(f.log, log);
    f.open();
    for (const scute_oid oid : many) EXPECT_EQ(f.read(oid), bytes(40000, 7));
    f.expect_sound();
  }
}

// The pool's thread looks until nothing is left, and then no more (IDLE-1). Here the test is that
// thread.
void look_to_the_end(disk_pool& f) {
  unsigned looks = 0;
  while (looks < 1000 && f.in().engine->background()) ++looks;
  EXPECT_LT(looks, 1000U) << "it never ends";
}

// It went to sleep with the look that checkpointed a transaction, and the file stayed as it was
// until the next one.
TEST(log_file_length, TheLastLookLeavesNoRoom) {
  disk_pool f;
  const uint64_t before = fs::file_size(f.log);
  f.in().idle.stop();
  std::vector<scute_oid> many;
  for (unsigned i = 0; i < 12; ++i) many.push_back(f.alloc(pattern(i, 40000)));
  look_to_the_end(f);
  for (const size_t threads : {1, 3}) {
    std::vector<std::thread> all;
    for (size_t t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        write_much(f, std::span(many).subspan(t * many.size() / threads, many.size() / threads));
      });
    for (std::thread& t : all) t.join();
    // (Of several the last one may have given it back.)
    if (threads == 1) {
      EXPECT_GT(fs::file_size(f.log), before);
    }
    look_to_the_end(f);
    EXPECT_EQ(fs::file_size(f.log), before) << threads;
  }
  for (const scute_oid oid : many) EXPECT_EQ(f.read(oid), bytes(40000, 7));
  f.expect_sound();
}

// CKPT-5: while a transaction has a range open there is nothing to do, and as soon as it ends there
//         is.
TEST(log_file_length, RoomForARangeInPlaceGoesBackWhenItEnds) {
  constexpr uint64_t large = 400'000;
  disk_pool f;
  const uint64_t before = fs::file_size(f.log);
  f.in().idle.stop();
  const scute_oid oid = f.alloc(bytes(large, 1));
  for (const bool commits : {false, true}) {
    look_to_the_end(f);
    {
      transaction tx(f);
      void* at = nullptr;
      SCUTE_OKAY(scute_tx_inplace(tx, oid, 0, large, &at));
      std::memset(at, 2, large);
      look_to_the_end(f);
      EXPECT_GT(fs::file_size(f.log), before);
      if (commits)
        SCUTE_OKAY(tx.commit());
      else
        scute_tx_abort(tx);
    }
    look_to_the_end(f);
    EXPECT_EQ(fs::file_size(f.log), before) << commits;
    EXPECT_EQ(f.read(oid), bytes(large, commits ? 2 : 1));
  }
  f.expect_sound();
}

}  // namespace
}  // namespace scute::test
