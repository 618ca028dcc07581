// SPDX-License-Identifier: BSD-3-Clause
// Pages that the kernel lists as bad. Scute takes them up when the pool is opened, and in a
// scrub, before any reader takes the bytes there for their content.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <map>

#include "support/page.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
namespace {

// Memory with a list of bad pages.
class listed_medium final : public medium::medium {
 public:
  listed_medium(std::byte* memory, uint64_t size, const std::vector<uint64_t>& bad) : bad_(bad) {
    base_ = memory;
    size_ = size;
    kind_ = ::scute::core::medium::kind::ram;
  }
  const char* flush_name() const noexcept override { return "none"; }
  std::vector<uint64_t> bad_pages() const override { return bad_; }

 protected:
  void do_stream(::scute::core::medium::writer&, void* dst, const void* src,
                 size_t n) noexcept override {
    std::memcpy(dst, src, n);
  }
  void do_flush(::scute::core::medium::writer&, const void*, size_t) noexcept override {}
  void do_fence(::scute::core::medium::writer&) noexcept override {}
  void do_store(void* dst, const void* src, size_t n) noexcept override {
    std::memcpy(dst, src, n);
  }

 private:
  const std::vector<uint64_t>& bad_;
};

TEST(bad_page, AreRepairedByOpeningAndByAScrub) {
  const scute_options o = options(2 * mib);
  const uint64_t size = o.size;
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* bytes_at = static_cast<std::byte*>(memory);
  std::vector<uint64_t> bad;
  scute_pool pool;
  pool.in = instance::format(std::make_unique<listed_medium>(bytes_at, size, bad), "listed", o);
  scute_oid oid = 0;
  scute_tx* tx = nullptr;
  void* to = nullptr;
  const bytes content = pattern(5, 9000);
  SCUTE_OKAY(scute_tx_begin(&pool, &tx));
  SCUTE_OKAY(scute_tx_alloc(tx, content.size(), 1, &oid, &to));
  std::memcpy(to, content.data(), content.size());
  SCUTE_OKAY(scute_tx_commit(tx));
  const uint64_t object = (oid & 0xffff'ffff'ffffu) & ~(page - 1);
  const auto holds = [&] {
    const void* at = nullptr;
    SCUTE_OKAY_E(scute_get_verified(&pool, oid, &at));
    return at != nullptr && std::memcmp(at, content.data(), content.size()) == 0;
  };
  const auto repaired = [&] {
    scute_info i{};
    i.struct_size = sizeof i;
    SCUTE_OKAY_E(scute_pool_info(&pool, &i));
    return i.pages_repaired;
  };

  // Two pages of the object, in different columns; and a log and a superblock page.
  const uint64_t lane = pool.in->s.geo.lanes_offset;
  pool.in->close();
  pool.in.reset();
  bad = {page, lane, object, object + page};
  for (const uint64_t at : bad) std::memset(bytes_at + at, 0xee, page);
  pool.in = instance::attach(std::make_unique<listed_medium>(bytes_at, size, bad), "listed", o);
  EXPECT_GE(repaired(), 3u);
  EXPECT_TRUE(holds());

  // And one that goes bad while the pool is open.
  const uint64_t before = repaired();
  bad = {object};
  std::memset(bytes_at + object, 0xee, page);
  scute_report r{};
  r.struct_size = sizeof r;
  SCUTE_OKAY(scute_scrub(&pool, nullptr, &r));
  EXPECT_EQ(repaired(), before + 1);
  EXPECT_EQ(r.lost, 0u);
  EXPECT_TRUE(holds());
  pool.in->close();
  pool.in.reset();
  ::munmap(memory, size);
}

// RECOVER-3. The bytes in a chunk that is lent to a log are not part of its columns.
TEST(bad_page, InTheColumnOfAChunkThatWasLent) {
  for (const auto level : {SCUTE_PROTECT_MLP, SCUTE_PROTECT_MLPC})
    for (const auto engine : {SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE, SCUTE_ENGINE_SPEC}) {
      if (engine == SCUTE_ENGINE_LOGFREE && level != SCUTE_PROTECT_MLPC) continue;
      SCOPED_TRACE(std::to_string(engine) + " " + std::to_string(level));
      scute_options o = options(4 * mib, {level, engine});
      o.rows = 4;
      const uint64_t size = o.size;
      void* memory =
          ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      ASSERT_NE(memory, MAP_FAILED);
      auto* bytes_at = static_cast<std::byte*>(memory);
      std::vector<uint64_t> bad;
      scute_pool pool;
      pool.in = instance::format(std::make_unique<listed_medium>(bytes_at, size, bad), "listed", o);
      const auto g = pool.in->s.geo;
      std::map<uint64_t, std::pair<scute_oid, bytes>> objects;  // by offset
      for (uint64_t i = 0; i < 40; ++i) {
        const bytes content = pattern(i, 50000);
        scute_tx* tx = nullptr;
        scute_oid oid = 0;
        void* to = nullptr;
        SCUTE_OKAY(scute_tx_begin(&pool, &tx));
        SCUTE_OKAY(scute_tx_alloc(tx, content.size(), 1, &oid, &to));
        std::memcpy(to, content.data(), content.size());
        SCUTE_OKAY(scute_tx_commit(tx));
        objects[oid & 0xffff'ffff'ffffu] = {oid, content};
      }
      pool.in->drain();
      const std::vector<uint64_t> lent = pool.in->heap->lend(pool.in->s.lanes.front(), 2);
      // A page of some object in a column of theirs.
      uint64_t lost = 0;
      for (const uint64_t chunk : lent) {
        std::memset(bytes_at + chunk, 0x77, g.chunk_size);
        const auto c = core::pool::cell_of(g, chunk + page);
        for (const auto& [at, o2] : objects)
          for (uint64_t p = (at + page - 1) / page * page; p + page <= at + 50000; p += page)
            if (core::pool::cell_of(g, p).column / page == c.column / page) lost = p;
      }
      ASSERT_NE(lost, 0u);
      pool.in->abandon();
      pool.in->close();
      pool.in.reset();
      bad = {lost};
      std::memset(bytes_at + lost, 0xee, page);
      pool.in = instance::attach(std::make_unique<listed_medium>(bytes_at, size, bad), "listed", o);
      bad.clear();
      for (const auto& [at, o2] : objects) {
        const void* p = nullptr;
        SCUTE_OKAY(scute_get_verified(&pool, o2.first, &p));
        EXPECT_TRUE(std::memcmp(p, o2.second.data(), o2.second.size()) == 0) << at;
      }
      pool.in->close();
      pool.in.reset();
      ::munmap(memory, size);
    }
}

// RECOVER-5. The page of a zone's descriptor is lost, and a decided transaction has its parity
// there on the medium, not its data.
TEST(bad_page, OfTheZoneWhileATransactionIsToBeReplayed) {
  for (const bool handler : {true, false}) {
    scute_options o = options(4 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO});
    o.rows = 4;
    if (!handler) o.flags |= SCUTE_NO_FAULT_HANDLER;
    void* memory =
        ::mmap(nullptr, o.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto* bytes_at = static_cast<std::byte*>(memory);
    std::vector<uint64_t> bad;
    scute_pool pool;
    pool.in = instance::format(std::make_unique<listed_medium>(bytes_at, o.size, bad), "listed", o);
    const auto g = pool.in->s.geo;
    std::map<scute_oid, bytes> objects;
    for (uint64_t i = 0; i < 40; ++i) {
      const bytes content = pattern(i, 50000);
      transaction tx(&pool);
      scute_oid oid = 0;
      void* to = nullptr;
      SCUTE_OKAY(scute_tx_alloc(tx, content.size(), 1, &oid, &to));
      std::memcpy(to, content.data(), content.size());
      SCUTE_OKAY(tx.commit());
      objects[oid] = content;
    }
    pool.in->drain();
    scute_oid changed = 0;
    uint64_t from = 0;
    for (const auto& [oid, content] : objects)
      for (uint64_t p = 0; p + 700 < content.size(); p += 64) {
        const auto c = core::pool::cell_of(g, (oid & 0xffff'ffff'ffffu) + p);
        if (c.row == 1 && c.column >= 256 && c.column + 640 < page) changed = oid, from = p;
      }
    ASSERT_NE(changed, 0u);
    const std::vector<std::byte> before(bytes_at, bytes_at + o.size);
    {
      transaction tx(&pool);
      void* p = nullptr;
      SCUTE_OKAY(scute_tx_add_range(tx, changed, from, 500, &p));
      std::memset(p, 0x11, 500);
      SCUTE_OKAY(tx.commit());
      std::memset(objects[changed].data() + from, 0x11, 500);
    }
    std::vector<std::byte> image(bytes_at, bytes_at + o.size);
    std::copy_n(before.begin() + static_cast<long>(g.zones_offset), g.rows * g.row_size,
                image.begin() + static_cast<long>(g.zones_offset));
    for (uint32_t lane = 0; lane < g.lane_count; ++lane)
      for (uint32_t r = 0; r < g.lane_replicas; ++r)
        std::memset(image.data() + g.lane_offset(lane, r), 0, 16);
    pool.in->abandon();
    pool.in->close();
    pool.in.reset();
    std::memcpy(bytes_at, image.data(), o.size);
    std::memset(bytes_at + g.zones_offset, 0xee, page);
    bad = {g.zones_offset};
    pool.in = instance::attach(std::make_unique<listed_medium>(bytes_at, o.size, bad), "listed", o);
    bad.clear();
    EXPECT_EQ(pool.in->recovery.completed, 1u);
    for (const auto& [oid, content] : objects) {
      const void* p = nullptr;
      SCUTE_OKAY(scute_get_verified(&pool, oid, &p));
      EXPECT_TRUE(std::memcmp(p, content.data(), content.size()) == 0) << oid;
    }
    pool.in->close();
    pool.in.reset();
    ::munmap(memory, o.size);
  }
}

}  // namespace
}  // namespace scute::test
