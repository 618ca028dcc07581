// SPDX-License-Identifier: BSD-3-Clause
// SQLite with a write-ahead log that every commit syncs: a connection and a prepared statement per
// thread. Writers queue at a mutex of this process, which wakes the next one at once; SQLite's own
// busy handlers would have them sleep and poll.
#ifdef SCUTE_BENCH_HAVE_SQLITE

#include <sqlite3.h>
#include <unistd.h>

#include <mutex>

#include "systems/kv_system.hpp"
#include "workloads/ycsb.hpp"

namespace scute::bench {
namespace {

constexpr int value_length = int{kv_population::value_size};

class connection {
 public:
  explicit connection(const std::string& path) {
    must(sqlite3_open_v2(path.c_str(), &db_,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                         nullptr));
    must(sqlite3_busy_timeout(db_, 60'000));
    run("PRAGMA journal_mode=WAL");
    run("PRAGMA synchronous=FULL");
    run("CREATE TABLE IF NOT EXISTS kv (key INTEGER PRIMARY KEY, value BLOB)");
    put_ = prepare("INSERT INTO kv VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2");
    get_ = prepare("SELECT value FROM kv WHERE key = ?1");
  }
  ~connection() {
    sqlite3_finalize(put_);
    sqlite3_finalize(get_);
    sqlite3_close(db_);
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  void run(const char* sql) { must(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr)); }
  void put(uint64_t record, const std::byte* value) {
    must(sqlite3_bind_int64(put_, 1, key_of(record)));
    must(sqlite3_bind_blob(put_, 2, value, value_length, SQLITE_STATIC));
    if (sqlite3_step(put_) != SQLITE_DONE) fail();
    must(sqlite3_reset(put_));
  }
  bool holds(uint64_t record) {
    must(sqlite3_bind_int64(get_, 1, key_of(record)));
    const bool there = sqlite3_step(get_) == SQLITE_ROW &&
                       sqlite3_column_bytes(get_, 0) == value_length &&
                       std::memcmp(sqlite3_column_blob(get_, 0), &record, sizeof record) == 0;
    must(sqlite3_reset(get_));
    return there;
  }

 private:
  static sqlite3_int64 key_of(uint64_t record) {
    return static_cast<sqlite3_int64>(workloads::ycsb::key_of(record));
  }
  [[noreturn]] void fail() {
    throw std::runtime_error(std::string("SQLite: ") + sqlite3_errmsg(db_));
  }
  void must(int rc) {
    if (rc != SQLITE_OK) fail();
  }
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* s = nullptr;
    must(sqlite3_prepare_v2(db_, sql, -1, &s, nullptr));
    return s;
  }

  sqlite3* db_ = nullptr;
  sqlite3_stmt *put_ = nullptr, *get_ = nullptr;
};

class sqlite_kv final : public kv_system {
 public:
  explicit sqlite_kv(const kv_population& p) : path_(p.path) {
    remove();
    for (unsigned t = 0; t < p.threads; ++t)
      connections_.push_back(std::make_unique<connection>(path_));
    connection& first = *connections_.front();
    std::byte value[value_length];
    first.run("BEGIN");
    for (uint64_t i = 0; i < p.records_now(); ++i) {
      kv_fill(value, i, 0);
      first.put(i, value);
    }
    first.run("COMMIT");
    first.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  ~sqlite_kv() override {
    connections_.clear();
    remove();
  }

  void put(unsigned thread, uint64_t record, const std::byte* value) override {
    const std::lock_guard hold(writer_);
    connections_[thread]->put(record, value);
  }
  bool holds(uint64_t record) override { return connections_.front()->holds(record); }
  void load(uint64_t first, uint64_t n) override {
    connection& c = *connections_.front();
    std::byte value[value_length];
    c.run("BEGIN");
    for (uint64_t i = first; i < first + n; ++i) {
      kv_fill(value, i, 0);
      c.put(i, value);
    }
    c.run("COMMIT");
  }

 private:
  void remove() const {
    for (const char* end : {"", "-wal", "-shm"}) ::unlink((path_ + end).c_str());
  }

  std::string path_;
  std::vector<std::unique_ptr<connection>> connections_;
  std::mutex writer_;
};

}  // namespace

std::unique_ptr<kv_system> make_sqlite(const kv_population& p) {
  return std::make_unique<sqlite_kv>(p);
}

}  // namespace scute::bench

#endif
