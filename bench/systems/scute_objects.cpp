// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <cstring>

#include "scute/repair.h"
#include "systems/object_system.hpp"
#include "systems/scute_pool.hpp"

namespace scute::bench {
namespace {

// Twice the space of the objects with their headers, and room for logs and parity. The file is
// sparse, so a generous size costs nothing.
uint64_t pool_size(const population& p) {
  const uint64_t objects = p.slots * (p.size + p.size / 4 + 128);
  return std::bit_ceil(2 * objects + (uint64_t{64} << 20));
}

class scute_objects final : public object_system {
 public:
  scute_objects(const std::string& config, const population& p)
      : pool_(p.path, pool_options(config, pool_size(p))), size_(p.size), oids_(p.slots) {}

  void alloc(std::span<const uint32_t> slots, content c) override {
    for (const uint32_t slot : slots) {
      scute_tx* tx = nullptr;
      void* bytes = nullptr;
      must(scute_tx_begin(pool_.get(), &tx));
      must(scute_tx_alloc(tx, size_, 1, &oids_[slot], &bytes));
      std::memcpy(bytes, c.next(), size_);
      must(scute_tx_commit(tx));
    }
  }

  void overwrite(std::span<const uint32_t> slots, content c) override {
    for (const uint32_t slot : slots) {
      scute_tx* tx = nullptr;
      void* bytes = nullptr;
      must(scute_tx_begin(pool_.get(), &tx));
      must(scute_tx_open(tx, oids_[slot], &bytes));
      std::memcpy(bytes, c.next(), size_);
      must(scute_tx_commit(tx));
    }
  }

  void free(std::span<const uint32_t> slots) override {
    for (const uint32_t slot : slots) {
      scute_tx* tx = nullptr;
      must(scute_tx_begin(pool_.get(), &tx));
      must(scute_tx_free(tx, oids_[slot]));
      must(scute_tx_commit(tx));
    }
  }

  void edit(std::span<const uint32_t> slots, content c) override {
    for (const uint32_t slot : slots) {
      scute_tx* tx = nullptr;
      void* bytes = nullptr;
      must(scute_tx_begin(pool_.get(), &tx));
      must(scute_tx_inplace(tx, oids_[slot], edited_from(size_), edited(size_), &bytes));
      std::memcpy(bytes, c.next(), edited(size_));
      must(scute_tx_commit(tx));
    }
  }

  bool count(costs& out) override {
    out = costs_of(pool_.get());
    return true;
  }
  bool drain() override {
    must(scute_drain(pool_.get()));
    return true;
  }

 private:
  temporary_pool pool_;
  uint64_t size_;
  std::vector<scute_oid> oids_;
};

}  // namespace

std::unique_ptr<object_system> make_scute(const system_kind& kind, const options&,
                                          const population& p) {
  return std::make_unique<scute_objects>(kind.config, p);
}

}  // namespace scute::bench
