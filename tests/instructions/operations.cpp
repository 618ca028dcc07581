// SPDX-License-Identifier: BSD-3-Clause
// Repeats one operation, so that a tool can count its instructions: all of them happen in
// measured().
//   operations ENGINE OPERATION TIMES        operations --list
// ENGINE-none: without protection. The pool has no thread of its own: that thread checkpoints and
// drains at any moment, and operations after that have other counts.
#include <scute/scute.h>
#include <scute/pool.hpp>
#include <scute/tx.hpp>

#include <pthread.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "counter.hpp"
#include "workloads/maps/hashmap.hpp"
#include "workloads/stores/scute_store.hpp"

namespace {

using scute::workloads::scute_store;
using map = scute::workloads::hashmap<scute_store, uint64_t>;

constexpr size_t objects = 4096, keys = 20000;

uint64_t state = 12345;
uint64_t next_random() {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 24;
}

void check(int code) {
  if (code == SCUTE_OK) return;
  std::fprintf(stderr, "%s\n", scute_errormsg());
  std::exit(1);
}

scute::engine engine_of(const std::string& name) {
  if (name == "redo") return scute::engine::redo;
  if (name == "logfree") return scute::engine::logfree;
  if (name == "spec") return scute::engine::spec;
  std::fprintf(stderr, "no engine '%s'\n", name.c_str());
  std::exit(2);
}

class bench {
 public:
  bench(const char* engine, uint64_t size) {
    scute::options how;
    how.size = 256 << 20;
    how.medium = scute::medium::ram;
    const std::string name = engine, bare = "-none";
    const bool protects = !name.ends_with(bare);
    how.engine = engine_of(protects ? name : name.substr(0, name.size() - bare.size()));
    if (!protects) how.protection = scute::protection::none;
    std::filesystem::remove("operations.pool");
    pool_ = scute::pool::create("operations.pool", how);
    for (auto& x : bytes_) x = static_cast<unsigned char>(next_random());
    for (size_t i = 0; i < objects && size != 0; i += 64)
      transact([&](scute_tx* tx) {
        for (size_t k = 0; k < 64; ++k) {
          scute_oid oid = 0;
          check(scute_tx_alloc(tx, size, 1, &oid, nullptr));
          oids_.push_back(oid);
        }
      });
  }

  template <typename Fn>
  void transact(Fn&& fn) {
    scute_tx* tx = nullptr;
    check(scute_tx_begin(pool_.native_handle(), &tx));
    fn(tx);
    check(scute_tx_commit(tx));
  }
  // All bytes of `members` objects.
  void overwrite(unsigned members, size_t size) {
    transact([&](scute_tx* tx) {
      for (unsigned k = 0; k < members; ++k) {
        void* at = nullptr;
        check(scute_tx_open(tx, oids_[next_random() % objects], &at));
        std::memcpy(at, bytes_ + next_random() % 64, size);
      }
    });
  }
  void edit(uint64_t offset, uint64_t length, bool in_place) {
    transact([&](scute_tx* tx) {
      void* at = nullptr;
      const scute_oid oid = oids_[next_random() % objects];
      check(in_place ? scute_tx_inplace(tx, oid, offset, length, &at)
                     : scute_tx_add_range(tx, oid, offset, length, &at));
      std::memcpy(at, bytes_ + next_random() % 64, length);
    });
  }
  // Three fields of as many of the first objects, which are changed again and again.
  void edit_three() {
    transact([&](scute_tx* tx) {
      for (unsigned k = 0; k < 3; ++k) {
        void* at = nullptr;
        const scute_oid oid = oids_[next_random() % 20 + 20 * k];
        check(scute_tx_inplace(tx, oid, 8 * (next_random() % 8), 8, &at));
        std::memcpy(at, bytes_ + next_random() % 64, 8);
      }
    });
  }
  void allocate(size_t size) {
    transact([&](scute_tx* tx) {
      scute_oid oid = 0;
      void* at = nullptr;
      check(scute_tx_alloc(tx, size, 1, &oid, &at));
      std::memcpy(at, bytes_ + next_random() % 64, size);
    });
  }
  void free_one() {
    transact([&](scute_tx* tx) { check(scute_tx_free(tx, oids_[freed_++])); });
  }
  void fill_map() {
    store_ = std::make_unique<scute_store>(pool_);
    map_ = std::make_unique<map>(store_->root<map::root>());
    for (size_t i = 0; i < keys; ++i) insert();
  }
  void insert() {
    keys_.push_back(next_random());
    store_->transact([&](scute_store::tx& t) { return map_->insert(t, keys_.back(), 1); });
  }
  void remove() {
    store_->transact([&](scute_store::tx& t) { return map_->remove(t, keys_[freed_++]); });
  }
  void look_up() {
    if (map_->get(store_->view(), keys_[next_random() % keys]) == nullptr) std::abort();
  }

 private:
  scute::pool pool_;
  std::vector<scute_oid> oids_;
  size_t freed_ = 0;
  unsigned char bytes_[4096 + 64];
  std::unique_ptr<scute_store> store_;
  std::unique_ptr<map> map_;
  std::vector<uint64_t> keys_;
};

struct operation {
  const char* name;
  uint64_t size;  // of the objects; 0: the hash map instead
  void (*run)(bench& b);
};
constexpr operation operations[] = {
    {"overwrite 64", 64, [](bench& b) { b.overwrite(1, 64); }},
    {"overwrite 256", 256, [](bench& b) { b.overwrite(1, 256); }},
    {"overwrite 1024", 1024, [](bench& b) { b.overwrite(1, 1024); }},
    {"overwrite 4096", 4096, [](bench& b) { b.overwrite(1, 4096); }},
    {"overwrite 3 of 64", 64, [](bench& b) { b.overwrite(3, 64); }},
    {"range of 8 in 256", 256, [](bench& b) { b.edit(40, 8, false); }},
    {"range of 8 in 4096", 4096, [](bench& b) { b.edit(40, 8, false); }},
    {"in place 64 in 256", 256, [](bench& b) { b.edit(40, 64, true); }},
    {"in place 3 hot of 8", 256, [](bench& b) { b.edit_three(); }},
    {"allocate 64", 64, [](bench& b) { b.allocate(64); }},
    {"free 64", 64, [](bench& b) { b.free_one(); }},
    {"map insert", 0, [](bench& b) { b.insert(); }},
    {"map remove", 0, [](bench& b) { b.remove(); }},
    {"map get", 0, [](bench& b) { b.look_up(); }},
};

}  // namespace

// In the place of the C library's: no thread can be made, which a pool bears
// (core/session/idle_drain.hpp).
extern "C" int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) {
  return EAGAIN;
}

extern "C" [[gnu::noinline]] void measured(bench& b, const operation& o, unsigned long times) {
  for (unsigned long i = 0; i < times; ++i) o.run(b);
}

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--list") {
    for (const operation& o : operations) std::puts(o.name);
    return 0;
  }
  if (argc != 4) return 2;
  for (const operation& o : operations) {
    if (std::strcmp(o.name, argv[2]) != 0) continue;
    bench b(argv[1], o.size);
    if (o.size == 0) b.fill_map();
    begin_counting();
    measured(b, o, std::strtoul(argv[3], nullptr, 10));
    return 0;
  }
  return 2;
}
