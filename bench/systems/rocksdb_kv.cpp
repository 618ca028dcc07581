// SPDX-License-Identifier: BSD-3-Clause
// RocksDB with its defaults, except that every write waits for its log to be on the disk. Not under
// ThreadSanitizer: libstdc++ hands its strings from thread to thread by atomics that are not
// instrumented. Suppressing the reports about them would hide races of ours.
#if defined(SCUTE_BENCH_HAVE_ROCKSDB) && !defined(__SANITIZE_THREAD__)

#include <rocksdb/c.h>

#include <filesystem>

#include "systems/kv_system.hpp"
#include "workloads/ycsb.hpp"

namespace scute::bench {
namespace {

constexpr size_t value_size = kv_population::value_size;

// Throws what RocksDB says went wrong.
class complaint {
 public:
  complaint() = default;
  ~complaint() { rocksdb_free(text_); }
  complaint(const complaint&) = delete;
  complaint& operator=(const complaint&) = delete;

  operator char**() { return &text_; }
  void raise() const {
    if (text_ != nullptr) throw std::runtime_error(std::string("RocksDB: ") + text_);
  }

 private:
  char* text_ = nullptr;
};

class rocksdb_kv final : public kv_system {
 public:
  explicit rocksdb_kv(const kv_population& p) : path_(p.path) {
    std::filesystem::remove_all(path_);
    rocksdb_options_set_create_if_missing(options_, 1);
    complaint wrong;
    db_ = rocksdb_open(options_, path_.c_str(), wrong);
    wrong.raise();
    std::byte value[value_size];
    for (uint64_t i = 0; i < p.records_now(); ++i) {
      kv_fill(value, i, 0);
      put(i, value);
    }
    rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
    rocksdb_flush(db_, flush, wrong);
    rocksdb_flushoptions_destroy(flush);
    wrong.raise();
    rocksdb_writeoptions_set_sync(write_, 1);
  }
  ~rocksdb_kv() override {
    rocksdb_close(db_);
    rocksdb_writeoptions_destroy(write_);
    rocksdb_readoptions_destroy(read_);
    rocksdb_options_destroy(options_);
    std::error_code ec;
    std::filesystem::remove_all(path_, ec);
  }

  void put(unsigned, uint64_t record, const std::byte* value) override { put(record, value); }
  void load(uint64_t first, uint64_t n) override {
    rocksdb_writebatch_t* batch = rocksdb_writebatch_create();
    std::byte value[value_size];
    for (uint64_t i = first; i < first + n; ++i) {
      kv_fill(value, i, 0);
      const uint64_t key = workloads::ycsb::key_of(i);
      rocksdb_writebatch_put(batch, bytes(&key), sizeof key, bytes(value), value_size);
    }
    complaint wrong;
    rocksdb_write(db_, write_, batch, wrong);
    rocksdb_writebatch_destroy(batch);
    wrong.raise();
  }
  bool holds(uint64_t record) override {
    const uint64_t key = workloads::ycsb::key_of(record);
    size_t size = 0;
    complaint wrong;
    char* value = rocksdb_get(db_, read_, bytes(&key), sizeof key, &size, wrong);
    const bool there =
        value != nullptr && size == value_size && std::memcmp(value, &record, sizeof record) == 0;
    rocksdb_free(value);
    wrong.raise();
    return there;
  }

 private:
  static const char* bytes(const void* p) { return static_cast<const char*>(p); }
  void put(uint64_t record, const std::byte* value) {
    const uint64_t key = workloads::ycsb::key_of(record);
    complaint wrong;
    rocksdb_put(db_, write_, bytes(&key), sizeof key, bytes(value), value_size, wrong);
    wrong.raise();
  }

  std::string path_;
  rocksdb_options_t* options_ = rocksdb_options_create();
  rocksdb_writeoptions_t* write_ = rocksdb_writeoptions_create();
  rocksdb_readoptions_t* read_ = rocksdb_readoptions_create();
  rocksdb_t* db_ = nullptr;
};

}  // namespace

std::unique_ptr<kv_system> make_rocksdb(const kv_population& p) {
  return std::make_unique<rocksdb_kv>(p);
}

}  // namespace scute::bench

#endif
