// SPDX-License-Identifier: BSD-3-Clause
// Every function of scute.h called wrongly in every way that its parameters allow. The list below
// is compared with what the shared library exports: a function without misuse fails the test.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <climits>
#include <cstdio>
#include <map>
#include <set>

#include "hostile/misuse_stage.hpp"

namespace scute::test {
namespace {

using stage = misuse_stage;

// ---- errors and options -------------------------------------------------------------------------

void errormsg(stage&) {
  std::thread([] { EXPECT_STREQ(scute_errormsg(), "") << "a thread without errors"; }).join();
}

void errorname(stage&) {
  for (const int code : {1, 7, INT_MAX, INT_MIN, SCUTE_E_INTERNAL - 1})
    EXPECT_STREQ(scute_errorname(code), "SCUTE_E_UNKNOWN");
}

void version(stage&) {
  EXPECT_EQ(scute_version(), scute_version()) << "static";
}

void options_init(stage&) {
  scute_options_init(nullptr);
}

void options_set(stage& s) {
  scute_options o = options();
  REFUSED(SCUTE_E_INVALID, scute_options_set(nullptr, "size", "1M"));
  REFUSED(SCUTE_E_INVALID, scute_options_set(&o, nullptr, "1M"));
  REFUSED(SCUTE_E_INVALID, scute_options_set(&o, "size", nullptr));
  EXPECT_EQ(o.size, mib);
}

void options_from_env(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_options_from_env(nullptr));
}

// ---- pools --------------------------------------------------------------------------------------

// Options that neither create nor open takes.
void for_bad_options(const std::function<void(const scute_options&)>& refused) {
  const auto with = [&](const char* what, auto&& change) {
    SCOPED_TRACE(what);
    scute_options o = options();
    change(o);
    refused(o);
  };
  with("struct_size not set", [](auto& o) { o.struct_size = 0; });
  with("struct_size of a smaller struct", [](auto& o) { o.struct_size = 8; });
  with("struct_size beyond all versions", [](auto& o) { o.struct_size = SIZE_MAX; });
  with("unknown flag", [](auto& o) { o.flags = 1u << 30; });
  with("all flags", [](auto& o) { o.flags = UINT32_MAX; });
  with("unknown medium", [](auto& o) { o.medium = static_cast<scute_medium>(4); });
  with("negative medium", [](auto& o) { o.medium = static_cast<scute_medium>(-1); });
  with("mode", [](auto& o) { o.mode = 01000; });
  with("unknown policy", [](auto& o) { o.policy = static_cast<scute_policy>(3); });
  with("negative policy", [](auto& o) { o.policy = static_cast<scute_policy>(-1); });
  with("scrub after 0 transactions", [](auto& o) { o.policy = SCUTE_POLICY_SCRUB; });
}

void create(stage& s) {
  scratch dir;
  const std::string path = dir.file("new");
  scute_options o = options();
  REFUSED(SCUTE_E_INVALID, scute_create(nullptr, &o, &s.handle));
  REFUSED(SCUTE_E_INVALID, scute_create(path.c_str(), &o, nullptr));
  REFUSED(SCUTE_E_NOENT, scute_create("", &o, &s.handle));
  REFUSED(SCUTE_E_NOENT, scute_create(dir.file("no/folder").c_str(), &o, &s.handle));
  for_bad_options([&](const scute_options& bad) {
    REFUSED(SCUTE_E_INVALID, scute_create(path.c_str(), &bad, &s.handle));
  });
  const auto refused = [&](const char* what, auto&& change) {
    SCOPED_TRACE(what);
    scute_options bad = options();
    change(bad);
    const int e = scute_create(path.c_str(), &bad, &s.handle);
    EXPECT_TRUE(e == SCUTE_E_INVALID || e == SCUTE_E_RANGE || e == SCUTE_E_UNSUPPORTED)
        << scute_errorname(e);
    s.expect_outputs_untouched();
  };
  refused("size 0", [](auto& b) { b.size = 0; });
  refused("size of no page", [](auto& b) { b.size = mib + 1; });
  refused("too small", [](auto& b) { b.size = SCUTE_SIZE_MIN - 4096; });
  refused("too large", [](auto& b) { b.size = SCUTE_SIZE_MAX + 4096; });
  refused("size UINT64_MAX", [](auto& b) { b.size = UINT64_MAX; });
  refused("negative engine", [](auto& b) { b.engine = static_cast<scute_engine>(-1); });
  refused("engine 3", [](auto& b) { b.engine = static_cast<scute_engine>(3); });
  refused("unknown engine", [](auto& b) { b.engine = static_cast<scute_engine>(99); });
  refused("unknown protection", [](auto& b) { b.protection = static_cast<scute_protection>(4); });
  refused("negative protection",
          [](auto& b) { b.protection = static_cast<scute_protection>(INT_MIN); });
  refused("checksum 0", [](auto& b) { b.checksum = static_cast<scute_checksum>(0); });
  refused("unknown checksum", [](auto& b) { b.checksum = static_cast<scute_checksum>(3); });
  refused("1001 rows", [](auto& b) { b.rows = 1001; });
  refused("too many rows", [](auto& b) { b.rows = UINT32_MAX; });
  refused("five parity rows", [](auto& b) { b.parity = 5; });
  refused("parity rows UINT32_MAX", [](auto& b) { b.parity = UINT32_MAX; });
  refused("parity rows without parity",
          [](auto& b) { b.parity = 1, b.protection = SCUTE_PROTECT_ML; });
  refused("two parity rows, engine redo",
          [](auto& b) { b.parity = 2, b.engine = SCUTE_ENGINE_REDO; });
  refused("two parity rows without checksums",
          [](auto& b) { b.parity = 2, b.protection = SCUTE_PROTECT_MLP; });
  refused("252 rows with two of parity", [](auto& b) { b.parity = 2, b.rows = 252; });
  refused("engine logfree without checksums",
          [](auto& b) { b.engine = SCUTE_ENGINE_LOGFREE, b.protection = SCUTE_PROTECT_MLP; });
  refused("too many lanes", [](auto& b) { b.lanes = 256; });
  refused("lanes UINT32_MAX", [](auto& b) { b.lanes = UINT32_MAX; });
  refused("chunk of no power of two", [](auto& b) { b.chunk_size = 20000; });
  refused("chunk too small", [](auto& b) { b.chunk_size = 8192; });
  refused("chunk too large", [](auto& b) { b.chunk_size = 1u << 31; });
  refused("read-only", [](auto& b) { b.flags = SCUTE_READONLY; });
  refused("long layout", [](auto& b) {
    b.layout = "1234567890123456789012345678901234567890123456789012345678901234";
  });
  EXPECT_EQ(dir.count(), 0u) << "a file is left";
  REFUSED(SCUTE_E_EXISTS, scute_create(s.pool.path.c_str(), &o, &s.handle));
  o.flags = SCUTE_OVERWRITE;
  REFUSED(SCUTE_E_BUSY, scute_create(s.pool.path.c_str(), &o, &s.handle));
  write_file(path, bytes(5000, 'x'));
  REFUSED(SCUTE_E_EXISTS, scute_create(path.c_str(), &o, &s.handle));
  EXPECT_EQ(read_file(path), bytes(5000, 'x'));
}

void open(stage& s) {
  scratch dir;
  scute_options o = options();
  const char* taken = s.pool.path.c_str();
  REFUSED(SCUTE_E_INVALID, scute_open(nullptr, &o, &s.handle));
  REFUSED(SCUTE_E_INVALID, scute_open(taken, &o, nullptr));
  REFUSED(SCUTE_E_NOENT, scute_open("", &o, &s.handle));
  REFUSED(SCUTE_E_NOENT, scute_open(dir.file("none").c_str(), &o, &s.handle));
  REFUSED(SCUTE_E_FORMAT, scute_open(dir.file(".").c_str(), &o, &s.handle));
  ASSERT_EQ(0, ::mkfifo(dir.file("fifo").c_str(), 0600));
  REFUSED(SCUTE_E_FORMAT, scute_open(dir.file("fifo").c_str(), &o, &s.handle));
  write_file(dir.file("empty"), {});
  REFUSED(SCUTE_E_FORMAT, scute_open(dir.file("empty").c_str(), &o, &s.handle));
  for_bad_options([&](const scute_options& bad) {
    REFUSED(SCUTE_E_INVALID, scute_open(s.other.path.c_str(), &bad, &s.handle));
  });
  // Open twice: in this process, and in another one.
  for (const uint32_t flags : {0u, uint32_t{SCUTE_READONLY}}) {
    o.flags = flags;
    REFUSED(SCUTE_E_BUSY, scute_open(taken, &o, &s.handle));
    const pid_t pid = ::fork();
    if (pid == 0) {
      scute_pool* mine = nullptr;
      ::_exit(scute_open(taken, &o, &mine) == SCUTE_E_BUSY ? 0 : 1);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0) << "another process opened the pool, too";
  }
  o.flags = 0;
  REFUSED(SCUTE_E_BUSY, scute_open(s.read_only.path.c_str(), &o, &s.handle));
  o.flags = SCUTE_READONLY;
  scute_pool* second = nullptr;
  SCUTE_OKAY(scute_open(s.read_only.path.c_str(), &o, &second));
  SCUTE_OKAY(scute_close(second));
  o.layout = "another";
  REFUSED(SCUTE_E_LAYOUT, scute_open(s.read_only.path.c_str(), &o, &s.handle));
}

void close(stage& s) {
  SCUTE_OKAY(scute_close(nullptr));
  // With transactions open in this thread and in another one.
  pool_file f;
  f.create();
  const scute_oid a = f.alloc(pattern(1, 100)), b = f.alloc(pattern(2, 100));
  scute_tx *mine = nullptr, *theirs = nullptr;
  void* at = nullptr;
  SCUTE_OKAY(scute_tx_begin(f, &mine));
  SCUTE_OKAY(scute_tx_inplace(mine, a, 0, 50, &at));
  std::memset(at, 9, 50);
  std::atomic<int> turn{0};
  std::thread other([&] {
    void* to = nullptr;
    SCUTE_OKAY_E(scute_tx_begin(f, &theirs));
    SCUTE_OKAY_E(scute_tx_inplace(theirs, b, 0, 50, &to));
    std::memset(to, 9, 50);
    turn = 1;
    while (turn != 2) std::this_thread::yield();
    REFUSED(SCUTE_E_NOTX, scute_tx_commit(theirs));
    // The thread is free for another pool.
    transaction next(s.other);
    SCUTE_OKAY_E(next.commit());
  });
  while (turn != 1) std::this_thread::yield();
  f.close();
  turn = 2;
  other.join();
  REFUSED(SCUTE_E_NOTX, scute_tx_commit(mine));
  f.open();
  EXPECT_EQ(f.info().clean, 1);
  EXPECT_TRUE(f.read(a) == pattern(1, 100));
  EXPECT_TRUE(f.read(b) == pattern(2, 100));
  f.expect_sound();
}

void root(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_root(nullptr, 8, 1, &s.oid));
  REFUSED(SCUTE_E_INVALID, scute_root(s.pool, 8, 1, nullptr));
  REFUSED(SCUTE_E_RANGE, scute_root(s.pool, 65, 1, &s.oid));
  REFUSED(SCUTE_E_RANGE, scute_root(s.pool, UINT64_MAX, 1, &s.oid));
  REFUSED(SCUTE_E_NOENT, scute_root(s.other, 0, 1, &s.oid));
  REFUSED(SCUTE_E_RANGE, scute_root(s.other, UINT64_MAX, 1, &s.oid));
  REFUSED(SCUTE_E_INVALID, scute_root(s.other, 8, SCUTE_TYPE_ANY, &s.oid));
  REFUSED(SCUTE_E_NOENT, scute_root(s.other, 0, 1, &s.oid));
  REFUSED(SCUTE_E_READONLY, scute_root(s.read_only, 8, 1, &s.oid));
  transaction tx(s.other);
  REFUSED(SCUTE_E_INVALID, scute_root(s.pool, 8, 1, &s.oid));
  REFUSED(SCUTE_E_INVALID, scute_root(s.other, 8, 1, &s.oid));
}

// The functions that fill in a struct with its size.
template <typename T>
void struct_misuse(stage& s, const std::function<int(scute_pool*, T*)>& call) {
  T t{};
  t.struct_size = sizeof t;
  REFUSED(SCUTE_E_INVALID, call(nullptr, &t));
  REFUSED(SCUTE_E_INVALID, call(s.pool, nullptr));
  for (const size_t size : {size_t{0}, size_t{7}, size_t{1} << 20, SIZE_MAX}) {
    std::memset(static_cast<void*>(&t), 0x5a, sizeof t);
    t.struct_size = size;
    REFUSED(SCUTE_E_INVALID, call(s.pool, &t));
    for (size_t i = sizeof t.struct_size; i < sizeof t; ++i)
      ASSERT_EQ(reinterpret_cast<unsigned char*>(&t)[i], 0x5a);
  }
  t.struct_size = sizeof t;
  SCUTE_OKAY(call(s.pool, &t));
}

void pool_info(stage& s) {
  struct_misuse<scute_info>(s, scute_pool_info);
}
void stats(stage& s) {
  struct_misuse<scute_counters>(s, scute_stats);
}
void stats_lane(stage& s) {
  struct_misuse<scute_counters>(
      s, [](scute_pool* p, scute_counters* c) { return scute_stats_lane(p, 0, c); });
  scute_counters c{};
  c.struct_size = sizeof c;
  REFUSED(SCUTE_E_RANGE, scute_stats_lane(s.pool, stage::lanes, &c));
  REFUSED(SCUTE_E_RANGE, scute_stats_lane(s.pool, UINT32_MAX, &c));
}
void locate(stage& s) {
  struct_misuse<scute_location>(
      s, [](scute_pool* p, scute_location* l) { return scute_locate(p, 0, l); });
  scute_location l{};
  l.struct_size = sizeof l;
  REFUSED(SCUTE_E_RANGE, scute_locate(s.pool, 2 * mib, &l));
  REFUSED(SCUTE_E_RANGE, scute_locate(s.pool, UINT64_MAX, &l));
}
void check(stage& s) {
  struct_misuse<scute_report>(s, [](scute_pool* p, scute_report* r) {
    return scute_check(p, 0, r, nullptr, nullptr, nullptr);
  });
  scute_report r{};
  r.struct_size = sizeof r;
  REFUSED(SCUTE_E_READONLY, scute_check(s.read_only, 1, &r, nullptr, nullptr, nullptr));
  SCUTE_OKAY(scute_check(s.read_only, 0, &r, nullptr, nullptr, nullptr));
}

void thread_lane(stage& s) {
  EXPECT_EQ(scute_thread_lane(nullptr), SCUTE_E_INVALID);
  std::thread([&] { EXPECT_EQ(scute_thread_lane(s.pool), SCUTE_E_NOENT); }).join();
}

void offset_of(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_offset_of(nullptr, 0, 0, 0, &s.number));
  REFUSED(SCUTE_E_INVALID, scute_offset_of(s.pool, 0, 0, 0, nullptr));
  REFUSED(SCUTE_E_RANGE, scute_offset_of(s.pool, UINT64_MAX, 0, 0, &s.number));
  REFUSED(SCUTE_E_RANGE, scute_offset_of(s.pool, 0, UINT64_MAX, 0, &s.number));
  REFUSED(SCUTE_E_RANGE, scute_offset_of(s.pool, 0, 0, UINT64_MAX, &s.number));
}

void visit_chunks(stage& s) {
  const auto visit = [](void*, const scute_chunk_info*) { return 0; };
  REFUSED(SCUTE_E_INVALID, scute_visit_chunks(nullptr, visit, nullptr));
  REFUSED(SCUTE_E_INVALID, scute_visit_chunks(s.pool, nullptr, nullptr));
  transaction tx(s.other);
  REFUSED(SCUTE_E_INVALID, scute_visit_chunks(s.pool, visit, nullptr));
}

// ---- reading ------------------------------------------------------------------------------------

void get(stage& s) {
  EXPECT_EQ(scute_get(nullptr, s.live), nullptr);
  for (const scute_oid bad : {scute_oid{0}, s.foreign, s.live & 0xffff'ffff'ffffu,
                              s.live | 0xffff'ffff'ffffu, scute_oid{UINT64_MAX}}) {
    EXPECT_EQ(scute_get(s.pool, bad), nullptr);
    EXPECT_STRNE(scute_errormsg(), "");
  }
}

void get_verified(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_get_verified(nullptr, s.live, &s.q));
  REFUSED(SCUTE_E_INVALID, scute_get_verified(s.pool, s.live, nullptr));
  s.for_bad_oids(
      [&](int code, scute_oid bad) { REFUSED(code, scute_get_verified(s.pool, bad, &s.q)); });
}

void get_committed(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_get_committed(nullptr, s.live, 0, 8, &s.q));
  REFUSED(SCUTE_E_INVALID, scute_get_committed(s.pool, s.live, 0, 8, nullptr));
  // Without a policy that tests, only what cannot be in the pool at all is refused.
  for (const scute_oid bad : {scute_oid{0}, s.foreign, s.live & 0xffff'ffff'ffffu, UINT64_MAX})
    REFUSED(SCUTE_E_OID, scute_get_committed(s.pool, bad, 0, 8, &s.q));
  REFUSED(SCUTE_E_RANGE, scute_get_committed(s.pool, s.live, 0, UINT64_MAX, &s.q));
  REFUSED(SCUTE_E_RANGE, scute_get_committed(s.pool, s.live, UINT64_MAX, 8, &s.q));
  REFUSED(SCUTE_E_RANGE, scute_get_committed(s.pool, s.live, 2 * mib, 8, &s.q));
  // Under policy conservative everything is.
  pool_file careful;
  scute_options o = options();
  o.policy = SCUTE_POLICY_CONSERVATIVE;
  careful.create(o);
  const scute_oid gone = careful.alloc(pattern(1, 100)), big = careful.alloc(pattern(2, 9000));
  SCUTE_OKAY(careful.free(gone));
  REFUSED(SCUTE_E_FREED, scute_get_committed(careful, gone, 0, 8, &s.q));
  EXPECT_EQ(scute_get(careful, gone), nullptr);
  REFUSED(SCUTE_E_OID, scute_get_committed(careful, big + 32, 0, 8, &s.q));
  EXPECT_EQ(scute_get(careful, big + 32), nullptr);
  REFUSED(SCUTE_E_RANGE, scute_get_committed(careful, big, 8999, 2, &s.q));
  REFUSED(SCUTE_E_RANGE, scute_get_committed(careful, big, 9001, 0, &s.q));
}

void direct_base(stage& s) {
  EXPECT_EQ(scute_direct_base(nullptr), 0u);
  EXPECT_NE(scute_direct_base(s.pool), 0u);
}

void object_info(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_object_info(nullptr, s.live, &s.number, nullptr, nullptr));
  SCUTE_OKAY(scute_object_info(s.pool, s.live, nullptr, nullptr, nullptr));
  const auto bad = [&](int code, scute_oid o) {
    REFUSED(code, scute_object_info(s.pool, o, &s.number, &s.number, nullptr));
  };
  s.for_bad_oids(bad);
  transaction tx(s.pool);
  s.for_bad_oids(bad);
}

void first(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_first(nullptr, 1, &s.oid));
  REFUSED(SCUTE_E_INVALID, scute_first(s.pool, 1, nullptr));
}

void next(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_next(nullptr, s.live, 1, &s.oid));
  REFUSED(SCUTE_E_INVALID, scute_next(s.pool, s.live, 1, nullptr));
  s.for_bad_oids([&](int code, scute_oid bad) {
    // What follows a freed object may be asked for, as it may be freed during the walk.
    if (code != SCUTE_E_FREED) REFUSED(code, scute_next(s.pool, bad, 1, &s.oid));
  });
}

// ---- transactions -------------------------------------------------------------------------------

void tx_begin(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_tx_begin(nullptr, &s.tx));
  REFUSED(SCUTE_E_INVALID, scute_tx_begin(s.pool, nullptr));
  {
    transaction tx(s.other);
    REFUSED(SCUTE_E_INVALID, scute_tx_begin(s.pool, &s.tx));
    REFUSED(SCUTE_E_INVALID, scute_tx_begin(nullptr, &s.tx));
    SCUTE_OKAY(tx.commit());
  }
  // More threads than lanes wait for one another.
  std::vector<std::thread> threads;
  std::atomic<uint64_t> done{0};
  for (unsigned t = 0; t < 4 * stage::lanes; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        transaction tx(s.pool);
        std::this_thread::yield();
        done += tx.commit() == SCUTE_OK ? 1 : 0;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(done, 50u * 4 * stage::lanes);
}

void tx_commit(stage& s) {
  s.for_bad_handles([&](scute_tx* bad) { REFUSED(SCUTE_E_NOTX, scute_tx_commit(bad)); });
  // Doomed by an inner level; whatever else is called then, nothing of it happens.
  scute_tx *outer = nullptr, *inner = nullptr;
  void* at = nullptr;
  scute_oid made = 0;
  SCUTE_OKAY(scute_tx_begin(s.pool, &outer));
  SCUTE_OKAY(scute_tx_begin(s.pool, &inner));
  SCUTE_OKAY(scute_tx_abort(inner));
  SCUTE_OKAY(scute_tx_open(outer, s.live, &at));
  std::memset(at, 1, 100);
  SCUTE_OKAY(scute_tx_alloc(outer, 500, 1, &made, &at));
  SCUTE_OKAY(scute_tx_free(outer, s.big));
  REFUSED(SCUTE_E_ABORTED, scute_tx_commit(outer));
  REFUSED(SCUTE_E_NOTX, scute_tx_commit(outer));
}

void tx_abort(stage& s) {
  s.for_bad_handles([&](scute_tx* bad) { REFUSED(SCUTE_E_NOTX, scute_tx_abort(bad)); });
}

void tx_current(stage& s) {
  EXPECT_EQ(scute_tx_current(nullptr), nullptr);
  transaction tx(s.other);
  EXPECT_EQ(scute_tx_current(nullptr), nullptr);
  EXPECT_EQ(scute_tx_current(s.pool), nullptr);
  std::thread([&] { EXPECT_EQ(scute_tx_current(s.other), nullptr); }).join();
}

void tx_alloc(stage& s) {
  s.for_bad_handles(
      [&](scute_tx* bad) { REFUSED(SCUTE_E_NOTX, scute_tx_alloc(bad, 8, 1, &s.oid, &s.p)); });
  transaction tx(s.pool);
  REFUSED(SCUTE_E_INVALID, scute_tx_alloc(tx, 8, 1, nullptr, &s.p));
  REFUSED(SCUTE_E_INVALID, scute_tx_alloc(tx, 0, 1, &s.oid, &s.p));
  for (const uint64_t size :
       {scute_alloc_max(s.pool) + 1, uint64_t{1} << 63, UINT64_MAX - 31, UINT64_MAX})
    REFUSED(SCUTE_E_RANGE, scute_tx_alloc(tx, size, 1, &s.oid, &s.p));
  for (const uint32_t type : {SCUTE_TYPE_ANY, 0xffffff01u, 0xffffff03u})
    REFUSED(SCUTE_E_INVALID, scute_tx_alloc(tx, 8, type, &s.oid, &s.p));
  SCUTE_OKAY(tx.commit());
  transaction looking(s.read_only);
  REFUSED(SCUTE_E_READONLY, scute_tx_alloc(looking, 8, 1, &s.oid, &s.p));
}

void alloc_max(stage& s) {
  EXPECT_EQ(scute_alloc_max(nullptr), 0u);
  EXPECT_LT(scute_alloc_max(s.pool), 2 * mib);
}

void tx_free(stage& s) {
  s.for_bad_handles([&](scute_tx* bad) { REFUSED(SCUTE_E_NOTX, scute_tx_free(bad, s.live)); });
  {
    transaction tx(s.pool);
    s.for_bad_oids([&](int code, scute_oid bad) { REFUSED(code, scute_tx_free(tx, bad)); });
    void* at = nullptr;
    scute_oid brief = 0;
    SCUTE_OKAY(scute_tx_free(tx, s.live));
    REFUSED(SCUTE_E_FREED, scute_tx_free(tx, s.live));
    SCUTE_OKAY(scute_tx_inplace(tx, s.big, 0, 8, &at));
    REFUSED(SCUTE_E_INVALID, scute_tx_free(tx, s.big));
    SCUTE_OKAY(scute_tx_alloc(tx, 50, 1, &brief, nullptr));
    SCUTE_OKAY(scute_tx_free(tx, brief));
    REFUSED(SCUTE_E_FREED, scute_tx_free(tx, brief));
    SCUTE_OKAY(tx.abort());
    REFUSED(SCUTE_E_FREED, s.pool.free(brief));
  }
  EXPECT_EQ(SCUTE_E_READONLY, s.read_only.free(s.read_only_live));
}

// The calls that take an oid and give an address.
template <typename Call>
void addressing_misuse(stage& s, Call call) {
  s.for_bad_handles([&](scute_tx* bad) { REFUSED(SCUTE_E_NOTX, call(bad, s.live, true)); });
  transaction tx(s.pool);
  REFUSED(SCUTE_E_INVALID, call(tx, s.live, false));
  s.for_bad_oids([&](int code, scute_oid bad) { REFUSED(code, call(tx, bad, true)); });
  SCUTE_OKAY(scute_tx_free(tx, s.live));
  REFUSED(SCUTE_E_FREED, call(tx, s.live, true));
  scute_oid brief = 0;
  SCUTE_OKAY(scute_tx_alloc(tx, 50, 1, &brief, nullptr));
  SCUTE_OKAY(scute_tx_free(tx, brief));
  REFUSED(SCUTE_E_FREED, call(tx, brief, true));
  SCUTE_OKAY(tx.abort());
}

void tx_open(stage& s) {
  addressing_misuse(s, [&](scute_tx* tx, scute_oid o, bool out) {
    return scute_tx_open(tx, o, out ? &s.p : nullptr);
  });
  transaction looking(s.read_only);
  void* at = nullptr;
  SCUTE_OKAY(scute_tx_open(looking, s.read_only_live, &at));
  std::memset(at, 1, 100);
  REFUSED(SCUTE_E_READONLY, looking.commit());
  EXPECT_TRUE(s.read_only.read(s.read_only_live) == pattern(5, 100));
}

void tx_add_range(stage& s) {
  addressing_misuse(s, [&](scute_tx* tx, scute_oid o, bool out) {
    return scute_tx_add_range(tx, o, 0, 8, out ? &s.p : nullptr);
  });
  transaction tx(s.pool);
  stage::for_bad_ranges(9000, [&](int code, uint64_t offset, uint64_t length) {
    REFUSED(code, scute_tx_add_range(tx, s.big, offset, length, &s.p));
  });
}

void tx_inplace(stage& s) {
  addressing_misuse(s, [&](scute_tx* tx, scute_oid o, bool out) {
    return scute_tx_inplace(tx, o, 0, 8, out ? &s.p : nullptr);
  });
  {
    transaction tx(s.pool);
    stage::for_bad_ranges(9000, [&](int code, uint64_t offset, uint64_t length) {
      REFUSED(code, scute_tx_inplace(tx, s.big, offset, length, &s.p));
    });
  }
  transaction looking(s.read_only);
  REFUSED(SCUTE_E_READONLY, scute_tx_inplace(looking, s.read_only_live, 0, 8, &s.p));
}

void tx_reading(stage& s) {
  const auto expect = [](const scute_tx_reads* r, bool direct, uint64_t touched) {
    EXPECT_EQ(r->units != 0, direct);
    EXPECT_EQ(r->touched, touched);
  };
  expect(scute_tx_reading(nullptr), false, UINT64_MAX);
  transaction tx(s.pool);
  expect(scute_tx_reading(tx), true, 0);
  REFUSED(SCUTE_E_OID, scute_tx_open(tx, SCUTE_OID_NULL, &s.p));
  expect(scute_tx_reading(tx), true, 0);
  SCUTE_OKAY(scute_tx_open(tx, s.live, &s.p));
  expect(scute_tx_reading(tx), false, SCUTE_TOUCHED_BIT(s.live));
  const scute_tx_reads* const last = scute_tx_reading(tx);
  SCUTE_OKAY(tx.commit());
  expect(last, false, UINT64_MAX);  // of a transaction that has ended
}

void tx_get(stage& s) {
  addressing_misuse(s, [&](scute_tx* tx, scute_oid o, bool out) {
    return scute_tx_get(tx, o, out ? &s.q : nullptr);
  });
}

void tx_get_range(stage& s) {
  addressing_misuse(s, [&](scute_tx* tx, scute_oid o, bool out) {
    return scute_tx_get_range(tx, o, 0, 8, out ? &s.q : nullptr);
  });
  transaction tx(s.pool);
  stage::for_bad_ranges(9000, [&](int code, uint64_t offset, uint64_t length) {
    REFUSED(code, scute_tx_get_range(tx, s.big, offset, length, &s.q));
  });
}

// ---- one object at a time -----------------------------------------------------------------------

void obj_open(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_obj_open(nullptr, s.live, &s.p));
  REFUSED(SCUTE_E_INVALID, scute_obj_open(s.pool, s.live, nullptr));
  s.for_bad_oids(
      [&](int code, scute_oid bad) { REFUSED(code, scute_obj_open(s.pool, bad, &s.p)); });
}

void obj_commit(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_obj_commit(nullptr));
  alignas(64) char mine[512] = {};
  REFUSED(SCUTE_E_INVALID, scute_obj_commit(mine + 256));
  void* at = nullptr;
  SCUTE_OKAY(scute_obj_open(s.pool, s.live, &at));
  std::memset(at, 1, 100);
  {
    transaction tx(s.pool);
    REFUSED(SCUTE_E_INVALID, scute_obj_commit(at));
    SCUTE_OKAY(tx.commit());
  }
  SCUTE_OKAY(scute_obj_open(s.read_only, s.read_only_live, &at));
  std::memset(at, 1, 100);
  REFUSED(SCUTE_E_READONLY, scute_obj_commit(at));
  EXPECT_TRUE(s.read_only.read(s.read_only_live) == pattern(5, 100));
}

void obj_discard(stage&) {
  scute_obj_discard(nullptr);
  alignas(64) char mine[512] = {};
  scute_obj_discard(mine + 256);
}

// ---- events -------------------------------------------------------------------------------------

void events(stage& s) {
  const auto count = [](void* arg, const scute_event*) { ++*static_cast<int*>(arg); };
  int n = 0;
  REFUSED(SCUTE_E_INVALID, scute_events(nullptr, count, &n));
  REFUSED(SCUTE_E_INVALID, scute_events(s.pool, nullptr, &n));
  SCUTE_OKAY(scute_events(s.pool, count, &n));
  SCUTE_OKAY(scute_events(s.read_only, count, nullptr));
  EXPECT_EQ(n, 0);
}

void scrub_options_init(stage&) {
  scute_scrub_options_init(nullptr);
}

scute_scrub_options scrub_defaults() {
  scute_scrub_options o;
  scute_scrub_options_init(&o);
  return o;
}

void scrub(stage& s) {
  scute_report r{};
  REFUSED(SCUTE_E_INVALID, scute_scrub(nullptr, nullptr, &r));
  REFUSED(SCUTE_E_INVALID, scute_scrub(s.pool, nullptr, nullptr));
  REFUSED(SCUTE_E_INVALID, scute_scrub(s.pool, nullptr, &r));  // without struct_size
  r.struct_size = sizeof r;
  auto o = scrub_defaults();
  o.struct_size = 0;
  REFUSED(SCUTE_E_INVALID, scute_scrub(s.pool, &o, &r));
  o = scrub_defaults();
  o.threads = 100000;
  REFUSED(SCUTE_E_INVALID, scute_scrub(s.pool, &o, &r));
  const transaction tx(s.pool);
  REFUSED(SCUTE_E_INVALID, scute_scrub(s.pool, nullptr, &r));
}

void scrub_start(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_scrub_start(nullptr, nullptr));
  auto o = scrub_defaults();
  o.struct_size = 1;
  REFUSED(SCUTE_E_INVALID, scute_scrub_start(s.pool, &o));
}

void scrub_wait(stage& s) {
  scute_report r{};
  REFUSED(SCUTE_E_INVALID, scute_scrub_wait(nullptr, nullptr));
  REFUSED(SCUTE_E_INVALID, scute_scrub_wait(s.pool, &r));  // without struct_size
  REFUSED(SCUTE_E_NOENT, scute_scrub_wait(s.pool, nullptr));
  const transaction tx(s.pool);
  REFUSED(SCUTE_E_INVALID, scute_scrub_wait(s.pool, nullptr));
}

void scrub_stop(stage& s) {
  scute_scrub_stop(nullptr);
  scute_scrub_stop(s.pool);
}

// ---- recovery of log-free pools -----------------------------------------------------------------

// A pool after a crash that nothing has resolved yet.
struct unresolved_pool : pool_file {
  unresolved_pool() {
    create(mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE});
    const scute_oid oid = alloc(pattern(1, 100));
    const bytes crash = read_file(path);
    close();
    write_file(path, crash);
    open(SCUTE_LAZY_RECOVERY);
    EXPECT_TRUE(read(oid) == pattern(1, 100));
  }
};

void recovery_wait(stage& s) {
  bool called = false;
  const auto note = [](void* arg, const char*, uint64_t, uint64_t) {
    *static_cast<bool*>(arg) = true;
  };
  REFUSED(SCUTE_E_INVALID, scute_recovery_wait(nullptr, note, &called));
  unresolved_pool f;
  const uint64_t pending = f.info().unresolved;
  EXPECT_GT(pending, 0u);
  for (pool_file* mine : {static_cast<pool_file*>(&f), &s.pool}) {
    const transaction tx(*mine);
    REFUSED(SCUTE_E_INVALID, scute_recovery_wait(f, note, &called));
    REFUSED(SCUTE_E_INVALID, scute_recovery_wait(s.pool, note, &called));
  }
  EXPECT_FALSE(called);
  EXPECT_EQ(f.info().unresolved, pending) << "a refused call went to work";
  SCUTE_OKAY(scute_recovery_wait(f, note, &called));
  EXPECT_TRUE(called);
  EXPECT_EQ(f.info().unresolved, 0u);
  // Nothing is pending: no calls, and no complaints.
  called = false;
  SCUTE_OKAY(scute_recovery_wait(f, note, &called));
  SCUTE_OKAY(scute_recovery_wait(s.read_only, note, &called));
  EXPECT_FALSE(called);
}

void recovery_progress(stage& s) {
  uint64_t total = stage::poison_number;
  REFUSED(SCUTE_E_INVALID, scute_recovery_progress(nullptr, &s.number, &total));
  EXPECT_EQ(total, stage::poison_number);
  unresolved_pool f;
  SCUTE_OKAY(scute_recovery_progress(f, nullptr, nullptr));
  uint64_t done = stage::poison_number;
  SCUTE_OKAY(scute_recovery_progress(f, &done, nullptr));
  SCUTE_OKAY(scute_recovery_progress(f, nullptr, &total));
  EXPECT_EQ(total - done, f.info().unresolved);
}

void drain(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_drain(nullptr));
  SCUTE_OKAY(scute_drain(s.read_only));
  // In a transaction it leaves alone what is not committed.
  transaction tx(s.pool);
  void* at = nullptr;
  SCUTE_OKAY(scute_tx_open(tx, s.live, &at));
  std::memset(at, 1, 100);
  SCUTE_OKAY(scute_tx_inplace(tx, s.big, 0, 64, &at));
  std::memset(at, 1, 64);
  SCUTE_OKAY(scute_drain(s.pool));
  SCUTE_OKAY(scute_drain(s.other));
  SCUTE_OKAY(tx.abort());
}

// ---- damage on purpose ----------------------------------------------------------------------------

void injection_init(stage&) {
  scute_injection_init(nullptr);
}

void inject(stage& s) {
  const auto with = [&](int error, auto&& change) {
    scute_injection i;
    scute_injection_init(&i);
    change(i);
    REFUSED(error, scute_inject(s.pool, &i, nullptr, nullptr, nullptr));
  };
  scute_injection i;
  scute_injection_init(&i);
  REFUSED(SCUTE_E_INVALID, scute_inject(nullptr, &i, nullptr, nullptr, nullptr));
  REFUSED(SCUTE_E_INVALID, scute_inject(s.pool, nullptr, nullptr, nullptr, nullptr));
  REFUSED(SCUTE_E_READONLY, scute_inject(s.read_only, &i, nullptr, nullptr, nullptr));
  with(SCUTE_E_INVALID, [](auto& x) { x.struct_size = 0; });
  with(SCUTE_E_INVALID, [](auto& x) { x.kind = static_cast<scute_injury>(9); });
  with(SCUTE_E_INVALID, [](auto& x) { x.bits = 7; });
  with(SCUTE_E_INVALID, [](auto& x) { x.region = 77; });
  with(SCUTE_E_RANGE, [](auto& x) { x.offset = uint64_t{1} << 60; });
}

void handle_fault(stage& s) {
  EXPECT_EQ(scute_handle_fault(SIGSEGV, nullptr, nullptr), 0);
  siginfo_t info{};
  info.si_addr = const_cast<void*>(scute_get(s.pool, s.oid));
  info.si_code = SI_USER;  // somebody sent it
  EXPECT_EQ(scute_handle_fault(SIGSEGV, &info, nullptr), 0);
  info.si_code = SEGV_MAPERR;  // no page of a pool's
  EXPECT_EQ(scute_handle_fault(SIGSEGV, &info, nullptr), 0);
  info.si_code = SEGV_ACCERR;
  EXPECT_EQ(scute_handle_fault(SIGFPE, &info, nullptr), 0);
  info.si_addr = &info;
  EXPECT_EQ(scute_handle_fault(SIGSEGV, &info, nullptr), 0);
}

// -------------------------------------------------------------------------------------------------

using misuse_fn = void (*)(stage&);
#define MISUSE(name) {"scute_" #name, name}
const std::map<std::string, misuse_fn>& all_misuse() {
  static const std::map<std::string, misuse_fn> all{
      MISUSE(scrub_options_init),
      MISUSE(scrub),
      MISUSE(scrub_start),
      MISUSE(scrub_wait),
      MISUSE(scrub_stop),
      MISUSE(recovery_wait),
      MISUSE(recovery_progress),
      MISUSE(drain),
      MISUSE(injection_init),
      MISUSE(inject),
      MISUSE(handle_fault),
      MISUSE(errormsg),
      MISUSE(errorname),
      MISUSE(version),
      MISUSE(options_init),
      MISUSE(options_set),
      MISUSE(options_from_env),
      MISUSE(create),
      MISUSE(open),
      MISUSE(close),
      MISUSE(root),
      MISUSE(pool_info),
      MISUSE(stats),
      MISUSE(stats_lane),
      MISUSE(thread_lane),
      MISUSE(get),
      MISUSE(get_verified),
      MISUSE(direct_base),
      MISUSE(object_info),
      MISUSE(first),
      MISUSE(next),
      MISUSE(tx_begin),
      MISUSE(tx_commit),
      MISUSE(tx_abort),
      MISUSE(tx_current),
      MISUSE(tx_alloc),
      MISUSE(alloc_max),
      MISUSE(tx_free),
      MISUSE(tx_open),
      MISUSE(tx_add_range),
      MISUSE(tx_inplace),
      MISUSE(tx_reading),
      MISUSE(tx_get),
      MISUSE(tx_get_range),
      MISUSE(obj_open),
      MISUSE(obj_commit),
      MISUSE(obj_discard),
      MISUSE(locate),
      MISUSE(offset_of),
      MISUSE(visit_chunks),
      MISUSE(check),
      MISUSE(get_committed),
      MISUSE(events),
  };
  return all;
}

class misuse : public testing::TestWithParam<std::pair<const std::string, misuse_fn>> {};

TEST_P(misuse, IsRefused) {
  misuse_stage s;
  GetParam().second(s);
  s.expect_nothing_happened();
}

INSTANTIATE_TEST_SUITE_P(Of, misuse, testing::ValuesIn(all_misuse()),
                         [](const auto& p) { return p.param.first; });

TEST(misuse_list, HasEveryExportedFunction) {
  FILE* nm =
      ::popen("nm -D --defined-only --format=posix " SCUTE_BINARY_DIR "/lib/libscute.so", "r");
  ASSERT_NE(nm, nullptr);
  std::set<std::string> exported, listed;
  char line[512];
  while (std::fgets(line, sizeof line, nm) != nullptr) {
    const std::string name(line, std::strcspn(line, "@ \n"));
    if (name.rfind("scute_", 0) == 0) exported.insert(name);
  }
  ASSERT_EQ(::pclose(nm), 0);
  for (const auto& [name, fn] : all_misuse()) listed.insert(name);
  EXPECT_EQ(exported, listed);
  EXPECT_GE(listed.size(), 52u);
}

}  // namespace
}  // namespace scute::test
