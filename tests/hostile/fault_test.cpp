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
#include <functional>
#include <optional>
#include <set>
#include <thread>

#include "hostile/fault_stage.hpp"

namespace scute::test {
namespace {

// One attempt at an operation.
struct attempt {
  const fault_stage& stage;
  std::string path;
  scute_medium medium;
  scute_pool* pool = nullptr;  // open before; or left open by the operation
  std::string message = {};    // of an error in another thread

  scute_oid oid(fault_stage::object o) const { return stage.objects[o]; }
  int open(uint32_t flags = 0) {
    scute_options o = options();
    o.medium = medium;
    o.flags = flags;
    return scute_open(path.c_str(), &o, &pool);
  }
  int create(uint32_t flags) {
    scute_options o = options(fault_stage::pool_size);
    o.medium = medium;
    o.lanes = 4;
    o.flags = flags;
    return scute_create(path.c_str(), &o, &pool);
  }
};

// A transaction of C calls, aborted if one fails.
template <typename Fn>
int in_transaction(scute_pool* pool, Fn&& body) {
  scute_tx* tx = nullptr;
  if (const int e = scute_tx_begin(pool, &tx); e != SCUTE_OK) return e;
  if (const int e = body(tx); e != SCUTE_OK) {
    const int aborted = scute_tx_abort(tx);
    EXPECT_EQ(SCUTE_OK, aborted) << "an abort has no reason to fail";
    return e;
  }
  return scute_tx_commit(tx);
}

int write_whole(scute_tx* tx, scute_oid oid, int value, size_t n) {
  void* p = nullptr;
  const int e = scute_tx_open(tx, oid, &p);
  if (e == SCUTE_OK) std::memset(p, value, n);
  return e;
}
int write_in_place(scute_tx* tx, scute_oid oid, uint64_t at, uint64_t n) {
  void* p = nullptr;
  const int e = scute_tx_inplace(tx, oid, at, n, &p);
  if (e == SCUTE_OK) std::memset(p, 3, n);
  return e;
}
int make(scute_tx* tx, uint64_t n) {
  void* p = nullptr;
  scute_oid oid = 0;
  const int e = scute_tx_alloc(tx, n, fault_stage::plain, &oid, &p);
  if (e == SCUTE_OK) std::memset(p, 4, n);
  return e;
}

enum class image { none, clean, crashed, damaged, fresh };

struct operation {
  const char* name;
  image before;
  bool opened;  // the pool is open before, and that is not part of the operation
  std::function<int(attempt&)> run;
};

using object = fault_stage::object;
using enum fault_stage::object;

int inspect(attempt& a) {
  scute_info i{};
  i.struct_size = sizeof i;
  if (const int e = scute_pool_info(a.pool, &i); e != SCUTE_OK) return e;
  scute_counters c{};
  c.struct_size = sizeof c;
  if (const int e = scute_stats(a.pool, &c); e != SCUTE_OK) return e;
  scute_location l{};
  l.struct_size = sizeof l;
  for (uint64_t at = 0; at < fault_stage::pool_size; at += 10000)
    if (const int e = scute_locate(a.pool, at, &l); e != SCUTE_OK) return e;
  if (const int e = scute_visit_chunks(
          a.pool, [](void*, const scute_chunk_info*) { return 0; }, nullptr);
      e != SCUTE_OK)
    return e;
  scute_oid oid = 0;
  int e = scute_first(a.pool, SCUTE_TYPE_ANY, &oid);
  while (e == SCUTE_OK && oid != 0) {
    const void* q = nullptr;
    e = scute_get_verified(a.pool, oid, &q);
    if (e == SCUTE_OK) e = scute_next(a.pool, oid, SCUTE_TYPE_ANY, &oid);
  }
  return e;
}

int check(attempt& a, bool repair) {
  scute_report r{};
  r.struct_size = sizeof r;
  return scute_check(a.pool, repair ? 1 : 0, &r, nullptr, nullptr, nullptr);
}

int one_object(attempt& a, bool commit) {
  void* p = nullptr;
  if (const int e = scute_obj_open(a.pool, a.oid(two_pages), &p); e != SCUTE_OK) return e;
  static_cast<char*>(p)[4999] ^= 1;
  if (commit) return scute_obj_commit(p);
  scute_obj_discard(p);
  return SCUTE_OK;
}

int close(attempt& a) {
  return scute_close(std::exchange(a.pool, nullptr));
}

const std::vector<operation>& operations() {
  static const std::vector<operation> all{
      {"create", image::none, false, [](attempt& a) { return a.create(0); }},
      {"create_preallocated", image::none, false,
       [](attempt& a) { return a.create(SCUTE_PREALLOCATE); }},
      {"create_over_a_pool", image::clean, false,
       [](attempt& a) { return a.create(SCUTE_OVERWRITE); }},
      {"open", image::clean, false, [](attempt& a) { return a.open(); }},
      {"open_after_crash", image::crashed, false, [](attempt& a) { return a.open(); }},
      {"open_damaged", image::damaged, false, [](attempt& a) { return a.open(); }},
      {"open_read_only", image::clean, false, [](attempt& a) { return a.open(SCUTE_READONLY); }},
      {"open_read_only_after_crash", image::crashed, false,
       [](attempt& a) { return a.open(SCUTE_READONLY); }},
      {"close", image::clean, true, close},
      {"close_with_open_transaction", image::clean, true,
       [](attempt& a) {
         scute_tx* tx = nullptr;
         if (const int e = scute_tx_begin(a.pool, &tx); e != SCUTE_OK) return e;
         if (const int e = write_in_place(tx, a.oid(large), 5000, 30000); e != SCUTE_OK) {
           scute_tx_abort(tx);
           return e;
         }
         return close(a);
       }},
      {"root", image::fresh, true,
       [](attempt& a) {
         scute_oid oid = 0;
         return scute_root(a.pool, shelf_size, 1, &oid);
       }},
      {"alloc_small", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool, [](scute_tx* tx) { return make(tx, 60); });
       }},
      {"first_call_of_a_thread", image::clean, true,
       [](attempt& a) {
         int e = SCUTE_OK;
         int left = 0;
         char told[200] = "";
         const auto planned = faults::hand_over();
         std::thread([&] {
           const faults::taken_over here(planned);
           e = in_transaction(a.pool, [](scute_tx* tx) { return make(tx, 60); });
           left = errno;
           if (e != SCUTE_OK) std::strncpy(told, scute_errormsg(), sizeof told - 1);
         }).join();
         a.message = told;
         errno = left;
         return e;
       }},
      {"alloc_large", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool, [](scute_tx* tx) { return make(tx, 50000); });
       }},
      {"alloc_many", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool, [](scute_tx* tx) {
           for (uint64_t n = 1; n < 900; n += 90)
             if (const int e = make(tx, n); e != SCUTE_OK) return e;
           return int{SCUTE_OK};
         });
       }},
      {"alloc_and_free", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool, [&](scute_tx* tx) {
           scute_oid oid = 0;
           if (const int e = scute_tx_alloc(tx, 20000, 1, &oid, nullptr); e != SCUTE_OK) return e;
           return scute_tx_free(tx, oid);
         });
       }},
      {"overwrite", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool,
                               [&](scute_tx* tx) { return write_whole(tx, a.oid(small), 5, 100); });
       }},
      {"overwrite_beyond_the_lane", image::clean, true,
       [](attempt& a) {
         return in_transaction(
             a.pool, [&](scute_tx* tx) { return write_whole(tx, a.oid(large), 5, 40000); });
       }},
      {"add_range", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool, [&](scute_tx* tx) {
           void* p = nullptr;
           const int e = scute_tx_add_range(tx, a.oid(large), 20000, 100, &p);
           if (e == SCUTE_OK) std::memset(p, 6, 100);
           return e;
         });
       }},
      {"in_place", image::clean, true,
       [](attempt& a) {
         return in_transaction(
             a.pool, [&](scute_tx* tx) { return write_in_place(tx, a.oid(two_pages), 90, 300); });
       }},
      {"in_place_large", image::clean, true,
       [](attempt& a) {
         return in_transaction(
             a.pool, [&](scute_tx* tx) { return write_in_place(tx, a.oid(large), 5000, 30000); });
       }},
      {"in_place_many", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool, [&](scute_tx* tx) {
           for (uint64_t at = 0; at < 20000; at += 1000)
             if (const int e = write_in_place(tx, a.oid(large), at, 300); e != SCUTE_OK) return e;
           return write_whole(tx, a.oid(small), 1, 100);
         });
       }},
      {"in_place_aborted", image::clean, true,
       [](attempt& a) {
         scute_tx* tx = nullptr;
         if (const int e = scute_tx_begin(a.pool, &tx); e != SCUTE_OK) return e;
         int e = write_in_place(tx, a.oid(two_pages), 90, 300);
         if (e == SCUTE_OK) e = write_in_place(tx, a.oid(large), 5000, 30000);
         const int aborted = scute_tx_abort(tx);
         return e != SCUTE_OK ? e : aborted;
       }},
      {"inner_abort", image::clean, true,
       [](attempt& a) {
         const int e = in_transaction(a.pool, [&](scute_tx* tx) {
           if (const int w = write_whole(tx, a.oid(small), 5, 100); w != SCUTE_OK) return w;
           if (const int m = make(tx, 3000); m != SCUTE_OK) return m;
           scute_tx* inner = nullptr;
           if (const int b = scute_tx_begin(a.pool, &inner); b != SCUTE_OK) return b;
           return scute_tx_abort(inner);
         });
         return e == SCUTE_E_ABORTED ? SCUTE_OK : e;
       }},
      {"free_small", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool,
                               [&](scute_tx* tx) { return scute_tx_free(tx, a.oid(spare_small)); });
       }},
      {"free_large", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool,
                               [&](scute_tx* tx) { return scute_tx_free(tx, a.oid(spare_large)); });
       }},
      {"many_objects_at_once", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool, [&](scute_tx* tx) {
           for (const auto& [o, n] : {std::pair{tiny, 10u}, {small, 100u}, {two_pages, 5000u}})
             if (const int e = write_whole(tx, a.oid(o), 8, n); e != SCUTE_OK) return e;
           if (const int e = make(tx, 18000); e != SCUTE_OK) return e;
           if (const int e = write_in_place(tx, a.oid(large), 1, 5000); e != SCUTE_OK) return e;
           return scute_tx_free(tx, a.oid(spare_small));
         });
       }},
      {"hash_map", image::clean, true, [](attempt& a) { return shelf_hash_map(a.pool); }},
      {"ordered_map", image::clean, true, [](attempt& a) { return shelf_ordered_map(a.pool); }},
      {"vector", image::clean, true, [](attempt& a) { return shelf_vector(a.pool); }},
      {"queue", image::clean, true, [](attempt& a) { return shelf_queue(a.pool); }},
      {"string", image::clean, true, [](attempt& a) { return shelf_string(a.pool); }},
      {"containers_cleared", image::clean, true, [](attempt& a) { return shelf_clear(a.pool); }},
      {"check", image::clean, true, [](attempt& a) { return check(a, false); }},
      {"check_and_repair_a_sound_pool", image::clean, true,
       [](attempt& a) { return check(a, true); }},
      {"check_and_repair", image::damaged, true, [](attempt& a) { return check(a, true); }},
      {"repair_by_reading", image::damaged, true,
       [](attempt& a) {
         const void* q = nullptr;
         return scute_get_verified(a.pool, a.oid(large), &q);
       }},
      {"repair_by_opening", image::damaged, true,
       [](attempt& a) {
         return in_transaction(a.pool,
                               [&](scute_tx* tx) { return write_whole(tx, a.oid(small), 5, 100); });
       }},
      {"obj_commit", image::clean, true, [](attempt& a) { return one_object(a, true); }},
      {"obj_discard", image::clean, true, [](attempt& a) { return one_object(a, false); }},
      {"inspect", image::clean, true, inspect},
      {"inspect_damaged", image::damaged, true, inspect},
  };
  return all;
}

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
    // A fence that fails leaves it to the next recovery what the file holds.
    const bool unsure = c == call::msync || c == call::fdatasync;
    std::set<std::string> allowed{e == SCUTE_OK ? after : before};
    if (unsure) allowed = {before, after};
    if (o.before == image::none) {
      EXPECT_EQ(::access(a.path.c_str(), F_OK) == 0, e == SCUTE_OK) << "a file is left over";
    }
    EXPECT_LE(stage().dir().count(), 1u) << "a file is left over";
    settle(a, allowed);
    if (outcome.hit) ++(e == SCUTE_OK ? unharmed : refused);
    return outcome.hit;
  }

  static bool documented(call c, int error, int result) {
    if (c == call::msync || c == call::fdatasync) return result == SCUTE_E_IO;
    if (c == call::memory || error == ENOMEM) return result == SCUTE_E_NOMEM;
    if (error == ENOSPC || error == EFBIG) return result == SCUTE_E_NOSPC || result == SCUTE_E_IO;
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
                    {call::rename, ENOSPC},    {call::unlink, EIO},      {call::access, EACCES}};
  for (const scute_medium m : {SCUTE_MEDIUM_AUTO, SCUTE_MEDIUM_FILE}) {
    begin(m);
    for (const auto& w : ways) each(w.c, w.error, false);
    // A disk that fails goes on failing.
    each(call::msync, EIO, true);
    each(call::fdatasync, EIO, true);
    each(call::mmap, ENOMEM, true);
  }
}

INSTANTIATE_TEST_SUITE_P(In, fault, testing::ValuesIn(operations()),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace scute::test
