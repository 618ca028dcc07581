// SPDX-License-Identifier: BSD-3-Clause
// Misuse of errors, options, and pools as a whole.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>

#include "hostile/misuse_list.hpp"

namespace scute::test {
namespace {

using stage = misuse_stage;

// ---- errors and options -------------------------------------------------------------------------

void errormsg(stage&) {
  std::thread([] { EXPECT_STREQ(scute_errormsg(), "") << "a thread without errors"; }).join();
}

void errorname(stage&) {
  for (const int code : {1, 7, INT_MAX, INT_MIN, SCUTE_E_CHANGED - 1})
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
  refused("engine 4", [](auto& b) { b.engine = static_cast<scute_engine>(4); });
  refused("unknown engine", [](auto& b) { b.engine = static_cast<scute_engine>(99); });
  refused("unknown protection", [](auto& b) { b.protection = static_cast<scute_protection>(5); });
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
  scute_options o = opening();
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
  o.layout = nullptr;
  o.size = 3 * gib;
  REFUSED(SCUTE_E_INVALID, scute_open(s.read_only.path.c_str(), &o, &s.handle));
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
void set_engine(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_set_engine(nullptr, nullptr, SCUTE_ENGINE_REDO));
  REFUSED(SCUTE_E_NOENT, scute_set_engine("", nullptr, SCUTE_ENGINE_REDO));
  REFUSED(SCUTE_E_NOENT, scute_set_engine("/nowhere/at/all", nullptr, SCUTE_ENGINE_REDO));
  for (const int bad : {-1, 0, 4, 99})
    REFUSED(SCUTE_E_INVALID,
            scute_set_engine(s.pool.path.c_str(), nullptr, static_cast<scute_engine>(bad)));
  REFUSED(SCUTE_E_BUSY, scute_set_engine(s.pool.path.c_str(), nullptr, SCUTE_ENGINE_REDO));
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
  // A commit in progress looks like damage; the transaction continues as if nothing had been asked.
  transaction tx(s.pool);
  void* at = nullptr;
  SCUTE_OKAY(scute_tx_open(tx, s.live, &at));
  for (const int repair : {0, 1}) {
    SCUTE_FAILS(SCUTE_E_INVALID, scute_check(s.pool, repair, &r, nullptr, nullptr, nullptr));
  }
  SCUTE_OKAY(scute_check(s.other, 0, &r, nullptr, nullptr, nullptr));  // of another pool
  SCUTE_OKAY(tx.commit());
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

}  // namespace

#define MISUSE(name) {"scute_" #name, name}
void list_misuse_of_pools(misuse_list& to) {
  to.insert({MISUSE(errormsg), MISUSE(errorname), MISUSE(version), MISUSE(options_init),
             MISUSE(options_set), MISUSE(options_from_env), MISUSE(create), MISUSE(open),
             MISUSE(set_engine), MISUSE(close), MISUSE(root), MISUSE(pool_info), MISUSE(stats),
             MISUSE(stats_lane), MISUSE(thread_lane), MISUSE(locate), MISUSE(offset_of),
             MISUSE(visit_chunks), MISUSE(check)});
}

}  // namespace scute::test
