// SPDX-License-Identifier: BSD-3-Clause
// Every system call and every allocation that an operation makes fails in turn: the first, the
// second, ... until the operation succeeds because it makes no more. Each time the outcome is
// success or a documented error with a message; afterwards the pool has exactly its content from
// before or after the operation, is sound, and the next transaction works.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include "hostile/fault_operations.hpp"

namespace scute::test {
namespace {

class fault : public testing::TestWithParam<operation> {
 protected:
  static fault_stage& stage() {
    static fault_stage one;
    return one;
  }
  static size_t descriptors() {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                             std::filesystem::directory_iterator()));
  }

  attempt prepare() {
    const operation& o = GetParam();
    ::unlink(stage().path().c_str());
    ::unlink((stage().path() + ".log").c_str());
    static const bytes fresh = fault_stage::fresh_image();
    if (o.before != image::none)
      write_file(stage().path(), o.before == image::crashed   ? stage().crashed
                                 : o.before == image::damaged ? stage().damaged
                                 : o.before == image::fresh   ? fresh
                                                              : stage().clean);
    attempt a{stage(), stage().path(), medium};
    if (o.opened) {
      EXPECT_EQ(SCUTE_OK, a.open()) << scute_errormsg();
    }
    return a;
  }

  // The content that an undisturbed run leaves; with `run` false, that it starts from.
  std::string expected(bool run) {
    attempt a = prepare();
    if (run) {
      EXPECT_EQ(SCUTE_OK, GetParam().run(a)) << scute_errormsg();
    }
    if (a.pool != nullptr) {
      EXPECT_EQ(SCUTE_OK, scute_close(a.pool)) << scute_errormsg();
    }
    if (::access(a.path.c_str(), F_OK) != 0) return {};
    EXPECT_EQ(SCUTE_OK, a.open()) << scute_errormsg();
    const std::string c = stage().contents(a.pool);
    scute_close(a.pool);
    return c;
  }

  // One run with the nth call failing. False if it makes no nth call.
  bool disturbed(call c, uint64_t nth, int error, bool lasting) {
    const operation& o = GetParam();
    const std::string situation = std::string(o.name) + ", medium " + std::to_string(medium) +
                                  ": " + call_name(c) + " fails from call " + std::to_string(nth) +
                                  (lasting ? " on" : " once") + ", errno " + std::to_string(error);
    SCOPED_TRACE(situation);
    faults::describe(situation);
    attempt a = prepare();
    const size_t open_files = descriptors();
    faults::arm(c, nth, error, lasting);
    const int e = o.run(a);
    const int left = errno;
    const auto outcome = faults::disarm();
    if (e != SCUTE_OK) {
      if (c != call::memory) {
        EXPECT_EQ(left, error) << "errno is kept";
      }
      const std::string message = a.message.empty() ? scute_errormsg() : a.message;
      EXPECT_NE(message, "");
      EXPECT_TRUE(outcome.hit && documented(c, error, e)) << scute_errorname(e) << ": " << message;
      if (!o.opened) {
        EXPECT_EQ(a.pool, nullptr) << "outputs are written on success only";
        EXPECT_EQ(descriptors(), open_files) << "a file is left open";
      }
    }
    // If a fence fails, the next recovery decides what the file holds. A replacement whose mark
    // cannot be cut off has its name already (OURS-4).
    const bool unsure = c == call::msync || c == call::fdatasync || c == call::fsync ||
                        (c == call::ftruncate && o.name == std::string_view("create_over_a_pool"));
    std::set<std::string> allowed{e == SCUTE_OK ? after : before};
    if (unsure) allowed = {before, after};
    if (o.before == image::none) {
      EXPECT_EQ(::access(a.path.c_str(), F_OK) == 0, e == SCUTE_OK) << "a file is left over";
    }
    EXPECT_LE(stage().dir().pools(), 1u) << "a file is left over";
    EXPECT_LE(stage().dir().count(), stage().dir().pools() * 2) << "a log without a pool";
    settle(a, allowed);
    if (outcome.hit) ++(e == SCUTE_OK ? unharmed : refused);
    return outcome.hit;
  }

  static bool documented(call c, int error, int result) {
    if (c == call::msync || c == call::fdatasync || c == call::fsync) return result == SCUTE_E_IO;
    if (c == call::memory || error == ENOMEM) return result == SCUTE_E_NOMEM;
    if (error == ENOSPC || error == EFBIG || error == EDQUOT)
      return result == SCUTE_E_NOSPC || result == SCUTE_E_IO;
    return result == SCUTE_E_IO;
  }

  // The pool as the operation left it, then opened again: content, soundness, a next transaction.
  void settle(attempt& a, std::set<std::string> allowed) {
    std::optional<uint64_t> count;
    if (a.pool != nullptr) {
      const bool failed_medium = a.pool->in->s.medium->failed();
      const bool read_only = a.pool->in->s.read_only;
      if (!failed_medium) {
        expect_one_of(allowed, stage().contents(a.pool));
      }
      const int next = fault_stage::count_up(a.pool);
      EXPECT_EQ(next, read_only       ? SCUTE_E_READONLY
                      : failed_medium ? SCUTE_E_IO
                                      : SCUTE_OK)
          << scute_errormsg();
      if (next == SCUTE_OK) {
        allowed = {stage().contents(a.pool)};
        count = fault_stage::counter(a.pool);
      }
      const int closed = scute_close(std::exchange(a.pool, nullptr));
      EXPECT_EQ(closed, failed_medium ? SCUTE_E_IO : SCUTE_OK) << scute_errormsg();
    }
    if (::access(a.path.c_str(), F_OK) != 0) return;
    ASSERT_EQ(SCUTE_OK, a.open()) << scute_errormsg();
    expect_one_of(allowed, stage().contents(a.pool));
    if (count) {
      EXPECT_EQ(fault_stage::counter(a.pool), *count);
    }
    scute_report r{};
    r.struct_size = sizeof r;
    std::string findings;
    const auto note = [](void* to, const char* what, uint64_t offset, uint64_t length, scute_oid,
                         int) {
      *static_cast<std::string*>(to) += std::string("\n  ") + what + " at " +
                                        std::to_string(offset) + "+" + std::to_string(length);
    };
    EXPECT_EQ(SCUTE_OK, scute_check(a.pool, 0, &r, note, nullptr, &findings));
    EXPECT_EQ(GetParam().before == image::damaged ? r.lost : r.damaged, 0u) << findings;
    EXPECT_EQ(SCUTE_OK, fault_stage::count_up(a.pool)) << scute_errormsg();
    EXPECT_EQ(SCUTE_OK, scute_close(std::exchange(a.pool, nullptr))) << scute_errormsg();
  }

  static void expect_one_of(const std::set<std::string>& allowed, const std::string& found) {
    if (allowed.contains(found)) return;
    for (const std::string& a : allowed) {
      const auto [at, there] = std::mismatch(a.begin(), a.end(), found.begin(), found.end());
      const auto from = static_cast<size_t>(std::max<ptrdiff_t>(0, at - a.begin() - 20));
      ADD_FAILURE() << "the pool holds \"..." << found.substr(std::min(from, found.size()), 60)
                    << "\", expected \"..." << a.substr(from, 60) << '"';
    }
  }

  void begin(scute_medium m) {
    medium = m;
    before = expected(false);
    after = expected(true);
    faults::count();
    attempt a = prepare();
    faults::count();
    ASSERT_EQ(SCUTE_OK, GetParam().run(a)) << scute_errormsg();
    calls = faults::disarm().calls;
    scute_close(a.pool);
  }
  void each(call c, int error, bool lasting) {
    uint64_t n = 1;
    while (disturbed(c, n, error, lasting)) {
      ++n;
      if (HasFailure()) break;
      ASSERT_LT(n, 5000u) << "there is no end of it";
    }
    EXPECT_TRUE(n > 1 || calls[static_cast<size_t>(c)] == 0) << "no call was reached";
  }
  void TearDown() override {
    if (refused + unharmed == 0) return;
    std::printf("%llu failing calls: %llu refused, %llu got over it\n",
                static_cast<unsigned long long>(refused + unharmed),
                static_cast<unsigned long long>(refused),
                static_cast<unsigned long long>(unharmed));
  }

  scute_medium medium = SCUTE_MEDIUM_AUTO;
  std::string before, after;
  std::array<uint64_t, call_count> calls{};
  uint64_t unharmed = 0, refused = 0;
};

// TX-3.
TEST_P(fault, OneAllocation) {
  begin(SCUTE_MEDIUM_AUTO);
  each(call::memory, ENOMEM, false);
}

TEST_P(fault, AllAllocationsFromOneOn) {
  begin(SCUTE_MEDIUM_AUTO);
  each(call::memory, ENOMEM, true);
}

TEST_P(fault, SystemCalls) {
  struct {
    call c;
    int error;
  } const ways[] = {{call::mmap, ENOMEM},      {call::open, EMFILE},     {call::open, EINTR},
                    {call::fcntl, ENOLCK},     {call::fcntl, EINTR},     {call::fstat, EIO},
                    {call::fstatfs, EIO},      {call::fstatfs, EINTR},   {call::ftruncate, EIO},
                    {call::ftruncate, ENOSPC}, {call::ftruncate, EFBIG}, {call::ftruncate, EINTR},
                    {call::fallocate, ENOSPC}, {call::fallocate, EIO},   {call::fallocate, EINTR},
                    {call::msync, EIO},        {call::msync, ENOMEM},    {call::fdatasync, EIO},
                    {call::fdatasync, ENOSPC}, {call::fsync, EIO},       {call::pread, EIO},
                    {call::pwrite, EIO},       {call::getrandom, EINTR}, {call::rename, EIO},
                    {call::rename, ENOSPC},    {call::linkat, EIO},      {call::linkat, ENOSPC},
                    {call::unlink, EIO},       {call::access, EACCES},   {call::open, EOPNOTSUPP}};
  for (const scute_medium m : {SCUTE_MEDIUM_AUTO, SCUTE_MEDIUM_FILE}) {
    begin(m);
    for (const auto& w : ways) each(w.c, w.error, false);
    // A disk that fails keeps failing.
    each(call::msync, EIO, true);
    each(call::fdatasync, EIO, true);
    each(call::mmap, ENOMEM, true);
    each(call::fsync, EIO, true);
    // And a full one stays full.
    each(call::fallocate, ENOSPC, true);
    each(call::fallocate, EDQUOT, true);
  }
}

// A log that overflows its lane has borrowed chunks when memory runs out: they must not hinder the
// next one. Each time, a lane that has done nothing yet makes the log.
class chained_log : public testing::TestWithParam<scute_engine> {};

TEST_P(chained_log, FailsOnceForWantOfMemory) {
  for (uint64_t nth = 1, hit = 1; hit != 0; ++nth) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    pool_file f;
    scute_options o = options();
    o.size = 8 * mib;
    o.engine = GetParam();
    f.create(o);
    const uint64_t n = f.in().s.geo.row_size * 3 / 2;  // needs a log with any engine
    const scute_oid oid = f.alloc(pattern(1, n));
    f.reopen();
    const auto overwrite = [&](unsigned k) {
      transaction tx(f);
      void* p = nullptr;
      SCUTE_OKAY_E(scute_tx_open(tx, oid, &p));
      const bytes fresh = pattern(k, n);
      std::memcpy(p, fresh.data(), n);
      faults::arm(call::memory, k == 2 ? nth : 0, ENOMEM);
      const int e = tx.commit();
      const bool failed = faults::disarm().hit;
      if (k == 2) hit = failed;
      return e;
    };
    const int e = overwrite(2);
    EXPECT_TRUE(e == SCUTE_OK || (hit != 0 && e == SCUTE_E_NOMEM)) << scute_errormsg();
    ASSERT_EQ(overwrite(3), SCUTE_OK) << scute_errormsg();
    EXPECT_TRUE(f.read(oid) == pattern(3, n));
    f.expect_sound();
    ASSERT_LT(nth, 1000u);
  }
}

// If memory is missing, a range in place is refused and belongs to no transaction. Another thread
// then writes there while the transaction continues: a crash does not undo that.
TEST_P(chained_log, ARangeInPlaceIsRefused) {
  for (const size_t n : {100, 9000}) {
    for (uint64_t nth = 1, hit = 1; hit != 0; ++nth) {
      SCOPED_TRACE(std::to_string(n) + " bytes, allocation " + std::to_string(nth));
      pool_file f;
      scute_options o = options();
      o.size = mib;
      o.engine = GetParam();
      f.create(o);
      const scute_oid before = f.alloc(pattern(1, n)), oid = f.alloc(pattern(2, n));
      f.reopen();
      bytes image;
      {
        transaction tx(f);
        void* p = nullptr;
        if (nth % 2 == 0) {
          SCUTE_OKAY(scute_tx_inplace(tx, before, 3, 5, &p));
        }
        faults::arm(call::memory, nth, ENOMEM);
        const int e = scute_tx_inplace(tx, oid, 7, n / 2, &p);
        hit = faults::disarm().hit ? 1 : 0;
        if (e == SCUTE_OK) continue;
        EXPECT_EQ(e, SCUTE_E_NOMEM);
        std::thread([&] { f.overwrite(oid, pattern(3, n)); }).join();
        image = read_file(f.path);
      }
      f.close();
      write_file(f.path, image);
      f.open();
      SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
      EXPECT_TRUE(f.read(oid) == pattern(3, n));
      EXPECT_TRUE(f.read(before) == pattern(1, n));
      EXPECT_EQ(f.info().repaired, 0u);
      f.expect_sound();
      if (HasFailure()) return;
    }
  }
}

// If a checkpoint cannot renew a range that is open in place, its block is checkpointed another
// time. A drain, and a switch of engines, used to take that for the end.
TEST(spec_drain, SaysThatItHadNoMemory) {
  uint64_t refused = 0;
  for (uint64_t nth = 1, hit = 1; hit != 0; ++nth) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    pool_file f;
    f.create(options(4 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC}));
    f.in().idle.stop();
    const scute_oid oid = f.alloc(pattern(1, 3000));
    SCUTE_OKAY(scute_drain(f));
    transaction tx(f);
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_inplace(tx, oid, 7, 2000, &p));
    const uint64_t before = f.in().engine->log().truncation_point;
    faults::arm(call::memory, nth, ENOMEM);
    const int e = scute_drain(f);
    hit = faults::disarm().hit ? 1 : 0;
    if (e == SCUTE_OK) {
      EXPECT_GT(f.in().engine->log().truncation_point, before);
    } else {
      EXPECT_EQ(e, SCUTE_E_NOMEM);
      EXPECT_NE(hit, 0U);
      ++refused;
      SCUTE_OKAY(scute_drain(f));
    }
    ASSERT_LT(nth, 1000U);
  }
  EXPECT_NE(refused, 0U);
}

INSTANTIATE_TEST_SUITE_P(Engine, chained_log,
                         testing::Values(SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE),
                         [](const auto& p) {
                           return std::string(p.param == SCUTE_ENGINE_REDO ? "redo" : "logfree");
                         });

INSTANTIATE_TEST_SUITE_P(In, fault, testing::ValuesIn(operations()),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace scute::test
