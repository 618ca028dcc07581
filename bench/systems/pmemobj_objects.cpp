// SPDX-License-Identifier: BSD-3-Clause
// libpmemobj's transactional C interface, used as fast as it goes: without the setjmp of its
// TX_BEGIN macro, with plain 8-byte offsets instead of its 16-byte oids in the table, and without
// a look-up of the pool for every pointer.
#ifdef SCUTE_BENCH_HAVE_PMEMOBJ

#include <libpmemobj.h>

#include <cstring>

#include "systems/object_system.hpp"
#include "systems/pmemobj_file.hpp"
#include "systems/pmemobj_huge.hpp"

namespace scute::bench {
namespace {

[[noreturn]] void fail() {
  throw std::runtime_error(std::string("libpmemobj: ") + pmemobj_errormsg());
}

class pmemobj_objects final : public object_system {
 public:
  pmemobj_objects(const population& p, bool huge)
      : file_(p.path, p.slots * (p.size + p.size / 2 + 64) + (uint64_t{64} << 20)),
        pool_(file_.pool),
        size_(p.size),
        at_(p.slots) {
    if (huge) make_huge(pool_, file_.size);
    uuid_ = pmemobj_oid(pmemobj_direct(pmemobj_root(pool_, 64))).pool_uuid_lo;
  }

  void alloc(std::span<const uint32_t> slots, content c) override {
    for (const uint32_t slot : slots) {
      begin();
      const PMEMoid oid = pmemobj_tx_alloc(size_, 1);
      if (OID_IS_NULL(oid)) [[unlikely]]
        fail();
      std::memcpy(at(oid.off), c.next(), size_);
      at_[slot] = oid.off;
      commit();
    }
  }

  void overwrite(std::span<const uint32_t> slots, content c) override {
    change(slots, c, 0, size_);
  }

  void edit(std::span<const uint32_t> slots, content c) override {
    change(slots, c, edited_from(size_), edited(size_));
  }

  void free(std::span<const uint32_t> slots) override {
    for (const uint32_t slot : slots) {
      begin();
      if (pmemobj_tx_free(PMEMoid{uuid_, at_[slot]}) != 0) [[unlikely]]
        fail();
      commit();
    }
  }

 private:
  void change(std::span<const uint32_t> slots, content& c, uint64_t from, uint64_t n) {
    for (const uint32_t slot : slots) {
      begin();
      void* bytes = at(at_[slot] + from);
      if (pmemobj_tx_add_range_direct(bytes, n) != 0) [[unlikely]]
        fail();
      std::memcpy(bytes, c.next(), n);
      commit();
    }
  }
  void begin() {
    if (pmemobj_tx_begin(pool_, nullptr, TX_PARAM_NONE) != 0) [[unlikely]]
      fail();
  }
  static void commit() {
    pmemobj_tx_commit();
    if (pmemobj_tx_end() != 0) [[unlikely]]
      fail();
  }
  char* at(uint64_t offset) const { return reinterpret_cast<char*>(pool_) + offset; }

  pmemobj_file file_;
  PMEMobjpool* pool_;
  uint64_t uuid_ = 0;
  uint64_t size_;
  std::vector<uint64_t> at_;
};

}  // namespace

std::unique_ptr<object_system> make_pmemobj(const system_kind& k, const options&,
                                            const population& p) {
  return std::make_unique<pmemobj_objects>(p, k.name == pmemobj_huge);
}

}  // namespace scute::bench

#endif
