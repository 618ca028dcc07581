// SPDX-License-Identifier: BSD-3-Clause
// LMDB: a write transaction per record, a writable map, and synchronous commits, which is its
// default.
#ifdef SCUTE_BENCH_HAVE_LMDB

#include <lmdb.h>
#include <unistd.h>

#include "systems/kv_system.hpp"
#include "workloads/ycsb.hpp"

namespace scute::bench {
namespace {

void lmdb_must(int rc) {
  if (rc != 0) throw std::runtime_error(std::string("LMDB: ") + mdb_strerror(rc));
}

class lmdb_kv final : public kv_system {
 public:
  explicit lmdb_kv(const kv_population& p) : path_(p.path) {
    remove();
    lmdb_must(mdb_env_create(&env_));
    lmdb_must(
        mdb_env_set_mapsize(env_, (p.records * 2048 + (uint64_t{64} << 20)) & ~uint64_t{4095}));
    lmdb_must(mdb_env_open(env_, path_.c_str(), MDB_WRITEMAP | MDB_NOSUBDIR, 0600));
    MDB_txn* tx = nullptr;
    lmdb_must(mdb_txn_begin(env_, nullptr, 0, &tx));
    lmdb_must(mdb_dbi_open(tx, nullptr, MDB_INTEGERKEY, &db_));
    std::byte value[kv_population::value_size];
    for (uint64_t i = 0; i < p.records_now(); ++i) {
      kv_fill(value, i, 0);
      put(tx, i, value);
    }
    lmdb_must(mdb_txn_commit(tx));
  }
  ~lmdb_kv() override {
    mdb_env_close(env_);
    remove();
  }

  void put(unsigned, uint64_t record, const std::byte* value) override {
    MDB_txn* tx = nullptr;
    lmdb_must(mdb_txn_begin(env_, nullptr, 0, &tx));
    put(tx, record, value);
    lmdb_must(mdb_txn_commit(tx));
  }
  void load(uint64_t first, uint64_t n) override {
    MDB_txn* tx = nullptr;
    lmdb_must(mdb_txn_begin(env_, nullptr, 0, &tx));
    std::byte value[kv_population::value_size];
    for (uint64_t i = first; i < first + n; ++i) {
      kv_fill(value, i, 0);
      put(tx, i, value);
    }
    lmdb_must(mdb_txn_commit(tx));
  }
  bool holds(uint64_t record) override {
    MDB_txn* tx = nullptr;
    lmdb_must(mdb_txn_begin(env_, nullptr, MDB_RDONLY, &tx));
    uint64_t key = workloads::ycsb::key_of(record);
    MDB_val k{sizeof key, &key}, v{};
    const bool there = mdb_get(tx, db_, &k, &v) == 0 && v.mv_size == kv_population::value_size &&
                       std::memcmp(v.mv_data, &record, sizeof record) == 0;
    mdb_txn_abort(tx);
    return there;
  }

 private:
  void put(MDB_txn* tx, uint64_t record, const std::byte* value) {
    uint64_t key = workloads::ycsb::key_of(record);
    MDB_val k{sizeof key, &key}, v{kv_population::value_size, const_cast<std::byte*>(value)};
    lmdb_must(mdb_put(tx, db_, &k, &v, 0));
  }
  void remove() const {
    ::unlink(path_.c_str());
    ::unlink((path_ + "-lock").c_str());
  }

  std::string path_;
  MDB_env* env_ = nullptr;
  MDB_dbi db_ = 0;
};

}  // namespace

std::unique_ptr<kv_system> make_lmdb(const kv_population& p) {
  return std::make_unique<lmdb_kv>(p);
}

}  // namespace scute::bench

#endif
